package page_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/page"
)

func TestACursorComesBackOnlyToItsOwnList(t *testing.T) {
	t.Parallel()
	own := page.Bind("orders", "tenant", "")
	at := page.Position{Time: time.UnixMicro(1_763_000_000_123_456).UTC(), ID: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"}
	text := own.EncodePosition(at)
	back, err := own.DecodePosition(text)
	require.NoError(t, err)
	require.Equal(t, at, back)

	for name, other := range map[string]page.Binding{
		"another filter":            page.Bind("orders", "tenant", "SENT"),
		"parts that join the same":  page.Bind("orderst", "enant", ""),
		"a filter that is not sent": page.Bind("orders", "tenant"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := other.DecodePosition(text)
			require.ErrorIs(t, err, page.ErrCursor)
		})
	}
}

func TestATimeNoDatabaseTakesIsRefused(t *testing.T) {
	t.Parallel()
	b := page.Bind("orders")
	for _, micros := range []int64{math.MaxInt64, math.MinInt64} {
		text := b.EncodePosition(page.Position{Time: time.UnixMicro(micros), ID: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"})
		_, err := b.DecodePosition(text)
		require.ErrorIs(t, err, page.ErrCursor)
	}
}

// FuzzDecodePosition: decoding never panics, a cursor has one spelling, and no cursor fits two lists.
func FuzzDecodePosition(f *testing.F) {
	b, other := page.Bind("orders"), page.Bind("links")
	at := page.Position{Time: time.UnixMicro(0), ID: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"}
	good := b.EncodePosition(at)
	for _, seed := range []string{
		good, good[:len(good)-1], good + "=", good + "A", strings.ToLower(good), " " + good, good + "\n", other.EncodePosition(at),
		b.Encode(nil), b.Encode(make([]byte, 24)), b.Encode(make([]byte, 23)), b.Encode(bytes.Repeat([]byte{0xff}, 24)),
		"", "AQ==", "AQ", "-_", "\x00", "é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := b.DecodePosition(text)
		if err != nil {
			require.ErrorIs(t, err, page.ErrCursor)
			require.Zero(t, p)
			return
		}
		require.Equal(t, text, b.EncodePosition(p), "a cursor has one spelling")
		_, err = other.DecodePosition(text)
		require.ErrorIs(t, err, page.ErrForeignCursor)
	})
}
