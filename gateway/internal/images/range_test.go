package images

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

var tenBytes = file{etag: `"e"`, size: 10}

func TestARangeIsClippedToTheFile(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]byteRange{
		"bytes=0-3":                    {0, 4},
		"bytes=4-":                     {4, 6},
		"bytes=9-9":                    {9, 1},
		"bytes=8-99":                   {8, 2},
		"bytes=0-99999999999999999999": {0, 10},
		"bytes=-3":                     {7, 3},
		"bytes=-30":                    {0, 10},
		"BYTES=0-0":                    {0, 1},
		"bytes= 0-0 ":                  {0, 1},
	} {
		got, requested := tenBytes.requestedRange(http.Header{"Range": {header}})
		require.True(t, requested, header)
		require.Equal(t, want, got, header)
	}
}

func TestARangeOutsideTheFileIsEmpty(t *testing.T) {
	t.Parallel()
	for _, header := range []string{
		"bytes=10-", "bytes=99999999999999999999-", "bytes=12-14", "bytes=99999999999999999999-100000000000000000000", "bytes=-0",
	} {
		got, requested := tenBytes.requestedRange(http.Header{"Range": {header}})
		require.True(t, requested, header)
		require.Zero(t, got.length, header)
	}
}

func TestAHeaderThatIsNotOneRangeOfBytesIsIgnored(t *testing.T) {
	t.Parallel()
	for _, ignored := range []string{
		"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=3-1", "bytes=0-1,4-5", "bytes=+1-2", "bytes=1", "bytes=1--2", "bytes=0x1-2",
		"items=0-1", "0-1",
	} {
		_, requested := tenBytes.requestedRange(http.Header{"Range": {ignored}})
		require.False(t, requested, ignored)
	}
	_, requested := tenBytes.requestedRange(http.Header{"Range": {"bytes=0-1", "bytes=2-3"}})
	require.False(t, requested, "two headers")
}

func TestARangeAppliesOnlyIfTheETagIsTheSame(t *testing.T) {
	t.Parallel()
	for validator, want := range map[string]bool{`"e"`: true, `W/"e"`: false, `"f"`: false, "Sat, 21 Nov 2026 12:00:00 GMT": false} {
		_, requested := tenBytes.requestedRange(http.Header{"Range": {"bytes=0-1"}, "If-Range": {validator}})
		require.Equal(t, want, requested, validator)
	}
}

func FuzzRange(f *testing.F) {
	f.Add("bytes=0-4")
	f.Add("bytes=-9")
	f.Fuzz(func(t *testing.T, header string) {
		got, requested := tenBytes.requestedRange(http.Header{"Range": {header}})
		if requested && got.length > 0 {
			require.GreaterOrEqual(t, got.start, int64(0))
			require.LessOrEqual(t, got.start+got.length, tenBytes.size)
		}
	})
}
