package picture_test

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/picture"
)

var (
	green = color.NRGBA{R: 20, G: 150, B: 60, A: 255}
	paper = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
)

func linkPicture(t *testing.T, hero, logo []byte) image.Image {
	t.Helper()
	made, err := picture.NewProcessor(maxBytes).LinkPicture(t.Context(), hero, logo)
	require.NoError(t, err)
	require.Equal(t, []int{1200, 630}, []int{made.Width, made.Height})
	require.LessOrEqual(t, len(made.Content), picture.MaxShown)
	shown := decode(t, made)
	require.Equal(t, image.Rect(0, 0, 1200, 630), shown.Bounds())
	return shown
}

func requireColour(t *testing.T, want color.NRGBA, shown image.Image, x, y int) {
	t.Helper()
	got := rgba(shown.At(x, y))
	require.InDeltaSlice(t, []uint8{want.R, want.G, want.B}, []uint8{got.R, got.G, got.B}, 12, "at %d, %d", x, y)
}

func TestThePictureOfALinkIsMadeOfTheHeroPictureAndTheLogo(t *testing.T) {
	t.Parallel()
	hero, logo := jpegOf(t, solid(600, 300, green)), pngOf(t, solid(400, 100, red))
	t.Run("the logo is on a card above the lower edge of the hero picture", func(t *testing.T) {
		shown := linkPicture(t, hero, logo)
		requireColour(t, green, shown, 5, 5)
		requireColour(t, green, shown, 600, 200)
		requireColour(t, green, shown, 600, 625)
		requireColour(t, paper, shown, 600, 385)
		requireColour(t, red, shown, 600, 471)
	})
	t.Run("without a hero picture the ground has the colour of the logo", func(t *testing.T) {
		logo := image.NewNRGBA(image.Rect(0, 0, 400, 100)) // Most of it is transparent.
		for x := range 400 {
			for y := 60; y < 80; y++ {
				logo.SetNRGBA(x, y, red)
			}
		}
		shown := linkPicture(t, nil, pngOf(t, logo))
		requireColour(t, red, shown, 5, 5)
		requireColour(t, red, shown, 5, 625)
		requireColour(t, red, shown, 600, 315)
		requireColour(t, paper, shown, 600, 315+40)
	})
	t.Run("the card is dark under a logo that is not seen on white", func(t *testing.T) {
		shown := linkPicture(t, hero, pngOf(t, solid(400, 100, paper)))
		requireColour(t, color.NRGBA{R: 31, G: 35, B: 41, A: 255}, shown, 600, 385)
		requireColour(t, paper, shown, 600, 471)
	})
	t.Run("without a logo it is the hero picture", func(t *testing.T) {
		shown := linkPicture(t, hero, nil)
		for _, at := range [][2]int{{5, 5}, {600, 450}, {1195, 625}} {
			requireColour(t, green, shown, at[0], at[1])
		}
	})
	t.Run("the middle of a hero picture is shown", func(t *testing.T) {
		for _, size := range [][2]int{{500, 158}, {300, 350}} {
			wide := solid(size[0], size[1], green).(*image.NRGBA)
			for at := range min(size[0], size[1]) { // Left and top are cut off.
				x, y := at%60, at
				if size[1] > size[0] {
					x, y = at, at%60
				}
				wide.SetNRGBA(x, y, red)
			}
			requireColour(t, green, linkPicture(t, pngOf(t, wide), nil), 100, 100)
		}
	})
	t.Run("whatever their sizes", func(t *testing.T) {
		for _, size := range [][2]int{{1, 1}, {1, 3000}, {3000, 1}, {3, 2}} {
			odd := pngOf(t, solid(size[0], size[1], green))
			linkPicture(t, odd, odd)
		}
	})
	t.Run("of the worst pictures", func(t *testing.T) {
		noise := image.NewNRGBA(image.Rect(0, 0, 1200, 630))
		for i := range noise.Pix {
			noise.Pix[i] = uint8(rand.N(256)) | 0x80
		}
		made, err := picture.NewProcessor(maxBytes).LinkPicture(t.Context(), pngOf(t, noise), nil)
		require.NoError(t, err)
		require.Less(t, len(made.Content), 2*picture.MaxShown, "noise cannot be smaller")
	})
	t.Run("what is no image is refused", func(t *testing.T) {
		for _, parts := range [][2][]byte{{[]byte("GIF89a"), nil}, {nil, []byte("GIF89a")}} {
			_, err := picture.NewProcessor(maxBytes).LinkPicture(t.Context(), parts[0], parts[1])
			require.ErrorIs(t, err, picture.ErrType)
		}
	})
}
