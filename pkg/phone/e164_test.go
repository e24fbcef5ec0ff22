package phone

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/require"
)

// agrees checks that Parse returns what the library alone returns.
func agrees(t *testing.T, text string) {
	t.Helper()
	got, ok := Parse(text)
	compact := compacted(text)
	var want string
	var possible bool
	code, _, _ := planOf(strings.TrimPrefix(compact, "+"))
	if international.MatchString(compact) && !strings.HasPrefix(compact, "+"+code+"00") {
		want, possible = parse(compact, "")
	}
	require.Equal(t, want, got, "%q", text)
	require.Equal(t, possible, ok, "%q", text)
}

func TestParseAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	t.Run("examples of every region", func(t *testing.T) {
		t.Parallel()
		for region := range phonenumbers.GetSupportedRegions() {
			for kind := phonenumbers.FIXED_LINE; kind <= phonenumbers.VOICEMAIL; kind++ {
				example := phonenumbers.GetExampleNumberForType(region, kind)
				if example == nil {
					continue
				}
				number, code := phonenumbers.Format(example, phonenumbers.E164), fmt.Sprintf("+%d", example.GetCountryCode())
				within := strings.TrimPrefix(number, code)
				for _, text := range []string{
					number, number + "1", number[:len(number)-1],
					code + "0" + within, code + "1" + within, code + "8" + within, code + "00" + within,
				} {
					agrees(t, text)
				}
			}
		}
	})
	t.Run("every beginning, in every length", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(1, 2))
		for beginning := 100; beginning < 1000; beginning++ {
			for length := 4; length <= 21; length++ {
				number := fmt.Sprintf("+%d", beginning)
				for len(number) < length {
					number += string(rune('0' + random.IntN(10)))
				}
				agrees(t, number[:length])
			}
		}
	})
}

func TestAUsualNumberNeedsNoLibrary(t *testing.T) {
	t.Parallel()
	needsNone := func(number string) bool {
		code, of, _ := planOf(number)
		return of.has(number[len(code):])
	}
	for _, number := range []string{"46701234567", "4915112345678", "12125550123", "447700900123", "33612345678"} {
		require.True(t, needsNone(number), number)
	}
	for _, number := range []string{"460701234567", "4670", "1234", "999123456", "393", "39061234567"} {
		require.False(t, needsNone(number), number)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"+46 70 123 45 67", "+46 (0)70-123 45 67", "+39 06 123 4567", "+1 212 555 0123", "+54 9 11 2345-6789", "+5215512345678",
		"+8001234567", "46", "", "+460046701234567", "＋４６ ٧٠ 123 45‑67",
	} {
		f.Add(seed)
	}
	f.Fuzz(agrees)
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		Parse("+46 70 123 45 67")
	}
}
