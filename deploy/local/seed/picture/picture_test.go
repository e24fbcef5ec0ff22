package picture_test

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed/picture"
)

func TestPNG(t *testing.T) {
	for _, figure := range []string{"box", "bottle", "device", "cup", "shirt", "ball", "of no kind"} {
		t.Run("draws a "+figure, func(t *testing.T) {
			drawn, err := picture.PNG("dark-truffles", figure)
			require.NoError(t, err)
			decoded, err := png.Decode(bytes.NewReader(drawn))
			require.NoError(t, err)
			require.Equal(t, picture.Side, decoded.Bounds().Dx())
			require.Equal(t, picture.Side, decoded.Bounds().Dy())
			require.Less(t, len(drawn), 200_000)
		})
	}
	t.Run("the same gift gets the same picture, another gift another", func(t *testing.T) {
		first, err := picture.PNG("dark-truffles", "box")
		require.NoError(t, err)
		again, err := picture.PNG("dark-truffles", "box")
		require.NoError(t, err)
		other, err := picture.PNG("tea-chest", "box")
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.NotEqual(t, first, other)
	})
}

func BenchmarkPNG(b *testing.B) {
	for b.Loop() {
		_, err := picture.PNG("dark-truffles", "box")
		require.NoError(b, err)
	}
}
