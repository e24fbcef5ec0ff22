package apikey_test

import (
	"hash/crc32"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/testenv"
)

func TestAKeyNamesItsEnvironmentAndHasAtLeast160RandomBits(t *testing.T) {
	t.Parallel()
	const checksumLen = 6 // It is computed from the characters before it.
	for env, prefix := range map[apikey.Environment]string{apikey.Production: "gft_live_", apikey.Sandbox: "gft_sbx_"} {
		t.Run(string(env), func(t *testing.T) {
			var random []string
			seen := map[string]bool{}
			for range 1000 {
				key := apikey.New(env)
				got, err := apikey.Parse(key)
				require.NoError(t, err)
				require.Equal(t, env, got)
				require.Less(t, len(apikey.Prefix(key)), len(key)/2)
				require.False(t, seen[key], "two keys differ")
				seen[key] = true
				body, named := strings.CutPrefix(key, prefix)
				require.True(t, named)
				random = append(random, body[:len(body)-checksumLen])
			}
			require.GreaterOrEqual(t, testenv.EntropyBits(random), 160.0)
		})
	}
}

func TestOneWrongCharacterIsCaught(t *testing.T) {
	t.Parallel()
	key := apikey.New(apikey.Sandbox)
	for i := range key {
		changed := []byte(key)
		changed[i] ^= 1
		_, err := apikey.Parse(string(changed))
		require.ErrorIs(t, err, apikey.ErrMalformed, "character %d", i)
	}
	for _, s := range []string{"", "gft_", "gft_sbx_", key + "0", key[1:]} {
		_, err := apikey.Parse(s)
		require.ErrorIs(t, err, apikey.ErrMalformed)
	}
}

func TestACorrectChecksumAloneMakesNoKey(t *testing.T) {
	t.Parallel()
	body := "gft_sbx_" + strings.Repeat("-", 32)
	sum := crc32.ChecksumIEEE([]byte(body))
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for range 6 {
		body += string(alphabet[sum%62])
		sum /= 62
	}
	_, err := apikey.Parse(body)
	require.ErrorIs(t, err, apikey.ErrMalformed)
}

// FuzzParse: Parse never panics, and what it accepts is a key in its only spelling.
func FuzzParse(f *testing.F) {
	const zeros = "00000000000000000000000000000000"
	for _, seed := range []string{
		apikey.New(apikey.Production), apikey.New(apikey.Sandbox), "gft_sbx_", "gft_live_", "", "gft_sbx_" + zeros + "000000",
		"gft_live_" + zeros + "000000", "GFT_SBX_" + zeros + "000000", "gft_sbx_gft_live_" + zeros, "gft_sbx_" + zeros + "00000é",
		"gft_sbx_\x00" + zeros, " gft_sbx_" + zeros + "000000 ", "gft_sbx__" + zeros + "00000",
	} {
		f.Add(seed)
	}
	wellFormed := regexp.MustCompile(`^gft_(live|sbx)_[0-9A-Za-z]{38}$`)
	f.Fuzz(func(t *testing.T, key string) {
		env, err := apikey.Parse(key)
		if err != nil {
			require.ErrorIs(t, err, apikey.ErrMalformed)
			require.Empty(t, apikey.Prefix(key))
			return
		}
		require.Regexp(t, wellFormed, key)
		require.Equal(t, env == apikey.Production, strings.HasPrefix(key, "gft_live_"))
		require.True(t, strings.HasPrefix(key, apikey.Prefix(key)))
		for _, other := range []string{key + "0", key[1:], strings.ToUpper(key), " " + key} {
			_, err := apikey.Parse(other)
			require.ErrorIs(t, err, apikey.ErrMalformed)
		}
	})
}
