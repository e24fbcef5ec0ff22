package picture_test

import (
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/picture"
)

func TestTheRenditionsOfAHeroPictureAreWideAndSmallInBytes(t *testing.T) {
	t.Parallel()
	widths := func(content []byte) (found []int) {
		set, err := picture.NewProcessor(maxBytes).PrepareHero(t.Context(), content)
		require.NoError(t, err)
		for _, r := range set.Renditions {
			require.Equal(t, picture.JPEG, r.ContentType)
			require.LessOrEqual(t, len(r.Content), picture.MaxShown, r.Width)
			found = append(found, r.Width)
		}
		return found
	}
	require.Equal(t, []int{320, 640, 1280}, widths(jpegOf(t, gradient(1600, 534))))
	require.Equal(t, []int{320, 640, 1280, 1920, 2560}, widths(jpegOf(t, gradient(2600, 867))))
	t.Run("of transparency nothing is left", func(t *testing.T) {
		set, err := picture.NewProcessor(maxBytes).PrepareHero(t.Context(), pngOf(t, image.NewNRGBA(image.Rect(0, 0, 1600, 534))))
		require.NoError(t, err)
		requireColour(t, paper, decode(t, set.Renditions[0]), 5, 5)
	})
	t.Run("what cannot be small is left out", func(t *testing.T) {
		noise := image.NewNRGBA(image.Rect(0, 0, 2000, 667))
		for i := range noise.Pix {
			noise.Pix[i] = uint8(rand.N(2)) * 0xFF
		}
		found := widths(pngOf(t, noise))
		require.Contains(t, found, 320)
		require.NotContains(t, found, 1920)
	})
}

func TestTheTopOfAPageNeedsAWideLandscape(t *testing.T) {
	t.Parallel()
	for size, want := range map[[2]int]error{
		{1599, 800}: picture.ErrHeroWidth, {1600, 1200}: nil, {1600, 1201}: picture.ErrHeroRatio,
		{1800, 600}: nil, {1801, 600}: picture.ErrHeroRatio,
	} {
		_, err := picture.NewProcessor(maxBytes).PrepareHero(t.Context(), jpegOf(t, gray(size[0], size[1])))
		require.ErrorIs(t, err, want, size)
	}
	_, err := picture.NewProcessor(maxBytes).PrepareHero(t.Context(), []byte("GIF89a"))
	require.ErrorIs(t, err, picture.ErrType)
}

func TestALogoIsSeenOnItsBackground(t *testing.T) {
	t.Parallel()
	// word is a logo of a colour that covers a twentieth of its background.
	word := func(ink, background color.Color) []byte {
		logo := image.NewNRGBA(image.Rect(0, 0, 400, 100))
		for x := range 400 {
			for y := range 100 {
				if logo.Set(x, y, background); y < 5 {
					logo.Set(x, y, ink)
				}
			}
		}
		return pngOf(t, logo)
	}
	yellow, faint := color.NRGBA{R: 255, G: 215, A: 255}, color.NRGBA{A: 60}
	glass := color.NRGBA{R: 255, G: 255, B: 255, A: 150}
	for name, tc := range map[string]struct {
		logo          []byte
		light, onDark error
	}{
		"red letters":              {word(red, color.Transparent), nil, nil},
		"red letters on white":     {word(red, paper), nil, nil},
		"white letters on a patch": {word(paper, green), nil, nil},
		"white letters":            {word(paper, color.Transparent), picture.ErrUnseenOnWhite, nil},
		"white letters of glass":   {word(glass, color.Transparent), picture.ErrUnseenOnWhite, nil},
		"yellow letters":           {word(yellow, color.Transparent), picture.ErrUnseenOnWhite, nil},
		"navy letters":             {word(color.NRGBA{R: 27, G: 75, B: 143, A: 255}, color.Transparent), nil, picture.ErrUnseenOnDark},
		"a shadow":                 {word(faint, color.Transparent), picture.ErrUnseenOnWhite, picture.ErrUnseenOnDark},
		"nothing":                  {word(color.Transparent, color.Transparent), picture.ErrUnseenOnWhite, picture.ErrUnseenOnDark},
	} {
		for onDark, want := range map[bool]error{false: tc.light, true: tc.onDark} {
			processor := picture.NewProcessor(maxBytes)
			prepare := processor.PrepareLogo
			if onDark {
				prepare = processor.PrepareDarkLogo
			}
			_, err := prepare(t.Context(), tc.logo)
			require.ErrorIs(t, err, want, "%s, on dark: %t", name, onDark)
		}
	}
}

func TestAPortraitIsNearlySquareAndStoredSmall(t *testing.T) {
	t.Parallel()
	for size, want := range map[[2]int]error{
		{319, 320}: picture.ErrPortraitSize, {320, 319}: picture.ErrPortraitSize, {320, 320}: nil,
		{2000, 1600}: nil, {2001, 1600}: picture.ErrPortraitRatio, {1600, 2000}: nil, {1600, 2001}: picture.ErrPortraitRatio,
	} {
		portrait, err := picture.NewProcessor(maxBytes).PreparePortrait(t.Context(), jpegOf(t, gray(size[0], size[1])))
		require.ErrorIs(t, err, want, size)
		if err == nil {
			require.Equal(t, []any{320, picture.JPEG}, []any{portrait.Original.Width, portrait.Original.ContentType})
		}
	}
	glass, err := picture.NewProcessor(maxBytes).PreparePortrait(t.Context(), pngOf(t, image.NewNRGBA(image.Rect(0, 0, 400, 400))))
	require.NoError(t, err)
	requireColour(t, paper, decode(t, glass.Original), 5, 5)
}

func TestASignatureIsWideAndSeenOnWhite(t *testing.T) {
	t.Parallel()
	written := func(width, height int, ink color.NRGBA) []byte {
		page := image.NewNRGBA(image.Rect(0, 0, width, height))
		for x := range width {
			for y := range height / 10 {
				page.SetNRGBA(x, y, ink)
			}
		}
		return pngOf(t, page)
	}
	// line is a signature of a pen of 3 pixels.
	line := func(ink, background color.Color) []byte {
		page := image.NewNRGBA(image.Rect(0, 0, 1600, 900))
		draw.Draw(page, page.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
		for x := 600; x < 1000; x++ {
			y := 450 + (x-800)/4
			draw.Draw(page, image.Rect(x, y, x+1, y+3), image.NewUniform(ink), image.Point{}, draw.Src)
		}
		return pngOf(t, page)
	}
	for name, tc := range map[string]struct {
		content []byte
		want    error
		width   int
	}{
		"as narrow as possible": {written(320, 100, red), nil, 320},
		"too narrow":            {written(319, 100, red), picture.ErrSignatureSize, 0},
		"a square":              {written(400, 400, red), nil, 400},
		"higher than wide":      {written(400, 401, red), picture.ErrSignatureSize, 0},
		"large":                 {written(2000, 700, red), nil, 640},
		"in white":              {written(400, 100, paper), picture.ErrUnseenOnWhite, 0},
		"a thin line":           {line(color.Black, color.Transparent), nil, 640},
		"a thin line on paper":  {line(color.Black, paper), nil, 640},
		"a thin white line":     {line(paper, color.Transparent), picture.ErrUnseenOnWhite, 0},
		"nothing":               {line(color.Transparent, color.Transparent), picture.ErrUnseenOnWhite, 0},
		"an empty sheet":        {line(paper, paper), picture.ErrUnseenOnWhite, 0},
	} {
		signature, err := picture.NewProcessor(maxBytes).PrepareSignature(t.Context(), tc.content)
		require.ErrorIs(t, err, tc.want, name)
		require.Equal(t, tc.width, signature.Original.Width, name)
		if err == nil {
			require.Equal(t, picture.PNG, signature.Original.ContentType, "it has no background of its own")
		}
	}
}

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
	t.Run("without a hero picture the background has the colour of the logo", func(t *testing.T) {
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
