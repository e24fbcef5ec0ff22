package images

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestedRange(t *testing.T) {
	t.Parallel()
	f := file{etag: `"e"`, size: 10}
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
		"bytes=10-":                    {},
		"bytes=99999999999999999999-":  {},
		"bytes=12-14":                  {},
		"bytes=99999999999999999999-100000000000000000000": {},
	} {
		got, requested := f.requestedRange(http.Header{"Range": {header}})
		require.True(t, requested, header)
		require.Equal(t, want, got, header)
	}
	nothing, requested := f.requestedRange(http.Header{"Range": {"bytes=-0"}})
	require.True(t, requested)
	require.Zero(t, nothing.length)
	for _, ignored := range []string{
		"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=3-1", "bytes=0-1,4-5", "bytes=+1-2", "bytes=1", "bytes=1--2", "bytes=0x1-2",
		"items=0-1", "0-1",
	} {
		_, requested := f.requestedRange(http.Header{"Range": {ignored}})
		require.False(t, requested, ignored)
	}
	_, requested = f.requestedRange(http.Header{"Range": {"bytes=0-1", "bytes=2-3"}})
	require.False(t, requested, "two headers")
	for validator, want := range map[string]bool{`"e"`: true, `W/"e"`: false, `"f"`: false, "Sat, 21 Nov 2026 12:00:00 GMT": false} {
		_, requested := f.requestedRange(http.Header{"Range": {"bytes=0-1"}, "If-Range": {validator}})
		require.Equal(t, want, requested, validator)
	}
}

func FuzzRange(f *testing.F) {
	f.Add("bytes=0-4")
	f.Add("bytes=-9")
	f.Fuzz(func(t *testing.T, span string) {
		image := file{etag: `"e"`, size: 100}
		p, requested := image.requestedRange(http.Header{"Range": {span}})
		if requested && p.length > 0 {
			require.GreaterOrEqual(t, p.start, int64(0))
			require.LessOrEqual(t, p.start+p.length, image.size)
		}
	})
}
