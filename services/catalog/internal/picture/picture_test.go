package picture_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"

	"github.com/partnergifting/platform/services/catalog/internal/picture"
)

var (
	red  = color.NRGBA{R: 200, G: 20, B: 30, A: 255}
	blue = color.NRGBA{R: 20, G: 30, B: 200, A: 128}
)

// secrets must not be in any file that comes out.
var secrets = []string{"GPS", "59.3293", "note of the maker", "ns.adobe.com/xap", "a comment", "after the end", "Ann Berg"}

func prepare(t *testing.T, content []byte) picture.Set {
	t.Helper()
	set, err := picture.NewStudio().Prepare(t.Context(), content)
	require.NoError(t, err)
	for _, file := range append(set.Renditions, set.Original) {
		for _, secret := range secrets {
			require.NotContains(t, string(file.Content), secret)
		}
		header, format, err := image.DecodeConfig(bytes.NewReader(file.Content)) // Not all of it: an animation cannot be decoded.
		require.NoError(t, err)
		require.Equal(t, file.ContentType, "image/"+format)
		require.Equal(t, image.Pt(file.Width, file.Height), image.Pt(header.Width, header.Height))
	}
	return set
}

func decode(t *testing.T, file picture.File) image.Image {
	t.Helper()
	shown, format, err := image.Decode(bytes.NewReader(file.Content))
	require.NoError(t, err)
	require.Equal(t, file.ContentType, "image/"+format)
	return shown
}

func TestMetadataGoesAndThePictureStays(t *testing.T) {
	plainPNG, plainJPEG := pngOf(t, gradient(40, 30)), jpegOf(t, gradient(40, 30))
	lossless := vp8l(40, 30, red)
	for name, tc := range map[string]struct{ upload, want []byte }{
		"a PNG with texts, a time and EXIF": {
			append(pngWith(plainPNG, "tEXt", "Author\x00Ann Berg", "zTXt", "a comment", "iTXt", "Ann Berg", "tIME", "1234567",
				"eXIf", exif(1, binary.BigEndian), "prVt", "note of the maker"), "after the end"...),
			plainPNG,
		},
		"a PNG with colour space and size": {
			pngWith(plainPNG, "sRGB", "\x00", "pHYs", "\x00\x00\x0b\x13\x00\x00\x0b\x13\x01", "tEXt", "a comment"),
			pngWith(plainPNG, "sRGB", "\x00", "pHYs", "\x00\x00\x0b\x13\x00\x00\x0b\x13\x01"),
		},
		"a JPEG with EXIF, XMP, IPTC and a comment": {
			append(jpegWith(plainJPEG, segment(0xE1, "Exif\x00\x00", exif(1, binary.LittleEndian)),
				segment(0xE1, "http://ns.adobe.com/xap/1.0/\x00<x/>"), segment(0xED, "Photoshop 3.0\x00Ann Berg"),
				segment(0xE2, "MPF\x00note of the maker"), segment(0xFE, "a comment")), "after the end"...),
			plainJPEG,
		},
		"a JPEG with a thumbnail": {
			jpegWith(plainJPEG, segment(0xE0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x02\x02Ann Berg's l"), segment(0xE0, "JFXX\x00\x10Ann Berg")),
			jpegWith(plainJPEG, segment(0xE0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00")),
		},
		"a WebP with EXIF and XMP": {
			append(webpOf("VP8X", vp8x(0x10|0x08|0x04, 40, 30), "VP8L", lossless, "EXIF", exif(1, binary.LittleEndian),
				"XMP ", "ns.adobe.com/xap", "NOTE", "a comment"), "after the end"...),
			webpOf("VP8X", vp8x(0x10, 40, 30), "VP8L", lossless),
		},
		"a WebP of nothing but its picture": {webpOf("VP8L", lossless), webpOf("VP8L", lossless)},
	} {
		t.Run(name, func(t *testing.T) {
			set := prepare(t, tc.upload)
			require.Equal(t, tc.want, set.Original.Content)
			require.Empty(t, set.Renditions)
		})
	}
}

func TestPicturesAreTurnedUpright(t *testing.T) {
	const width, height = 5, 3
	stored := gradient(width, height)
	topLeft, topRight := image.Pt(0, 0), image.Pt(1, 0)
	bottomLeft, bottomRight := image.Pt(0, 1), image.Pt(1, 1)
	// Where the first pixel of the stored picture and the last one of its first row are to be seen.
	for orientation, want := range map[int][2]image.Point{
		1: {topLeft, topRight}, 2: {topRight, topLeft}, 3: {bottomRight, bottomLeft}, 4: {bottomLeft, bottomRight},
		5: {topLeft, bottomLeft}, 6: {topRight, bottomRight}, 7: {bottomRight, topRight}, 8: {bottomLeft, topLeft},
	} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			t.Run(strconv.Itoa(orientation), func(t *testing.T) {
				set := prepare(t, pngWith(pngOf(t, stored), "eXIf", exif(orientation, order)))
				shown := decode(t, set.Original)
				far := shown.Bounds().Max.Sub(image.Pt(1, 1))
				at := func(corner image.Point) color.Color { return shown.At(corner.X*far.X, corner.Y*far.Y) }
				require.Equal(t, rgba(stored.At(0, 0)), rgba(at(want[0])))
				require.Equal(t, rgba(stored.At(width-1, 0)), rgba(at(want[1])))
				require.Equal(t, orientation >= 5, set.Original.Width == height)
			})
		}
	}
	t.Run("a JPEG as JPEG", func(t *testing.T) {
		set := prepare(t, jpegWith(jpegOf(t, gradient(400, 200)), segment(0xE1, "Exif\x00\x00", exif(6, binary.BigEndian))))
		require.Equal(t, []any{picture.JPEG, 200, 400}, []any{set.Original.ContentType, set.Original.Width, set.Original.Height})
	})
	t.Run("a WebP as what shows it well", func(t *testing.T) {
		for c, want := range map[color.NRGBA]string{red: picture.JPEG, blue: picture.PNG} {
			set := prepare(t, webpOf("VP8X", vp8x(0x18, 400, 200), "VP8L", vp8l(400, 200, c), "EXIF", "Exif\x00\x00"+exif(8, binary.BigEndian)))
			require.Equal(t, []any{want, 200, 400}, []any{set.Original.ContentType, set.Original.Width, set.Original.Height})
		}
	})
	t.Run("an orientation there is not counts for nothing", func(t *testing.T) {
		for _, orientation := range []int{0, 9, 65535} {
			set := prepare(t, pngWith(pngOf(t, stored), "eXIf", exif(orientation, binary.BigEndian)))
			require.Equal(t, pngOf(t, stored), set.Original.Content)
		}
	})
}

func TestRenditions(t *testing.T) {
	for _, tc := range []struct {
		width, height int
		want          [][2]int
	}{
		{320, 100, nil},
		{321, 100, [][2]int{{320, 100}}},
		{1000, 50, [][2]int{{320, 16}, {640, 32}}},
		{2000, 1, [][2]int{{320, 1}, {640, 1}, {1280, 1}}},
		{2560, 128, [][2]int{{320, 16}, {640, 32}, {1280, 64}}},
	} {
		set := prepare(t, jpegOf(t, gradient(tc.width, tc.height)))
		var got [][2]int
		for _, r := range set.Renditions {
			require.Equal(t, picture.JPEG, r.ContentType)
			got = append(got, [2]int{r.Width, r.Height})
		}
		require.Equal(t, tc.want, got)
	}
	t.Run("show what the original shows", func(t *testing.T) {
		for _, original := range []image.Image{gradient(400, 60), gray(400, 60), deep(400, 60)} {
			for _, r := range prepare(t, pngOf(t, original)).Renditions {
				shown := decode(t, r)
				for _, at := range [][2]int{{0, 0}, {399, 0}, {0, 59}, {399, 59}, {200, 30}} {
					x, y := at[0]*(r.Width-1)/399, at[1]*(r.Height-1)/59
					want, got := rgba(original.At(at[0], at[1])), rgba(shown.At(x, y))
					require.InDelta(t, want.R, got.R, 12)
					require.InDelta(t, want.G, got.G, 12)
					require.InDelta(t, want.B, got.B, 12)
				}
			}
		}
	})
	t.Run("are the same of the same bytes", func(t *testing.T) {
		upload := jpegWith(jpegOf(t, gradient(700, 70)), segment(0xE1, "Exif\x00\x00", exif(6, binary.BigEndian)))
		first := prepare(t, upload)
		require.Equal(t, first, prepare(t, upload))
	})
	t.Run("keep transparency, as PNG", func(t *testing.T) {
		for _, upload := range [][]byte{webpOf("VP8L", vp8l(700, 70, blue)), pngOf(t, solid(700, 70, blue))} {
			set := prepare(t, upload)
			require.Len(t, set.Renditions, 2)
			for _, r := range set.Renditions {
				require.Equal(t, picture.PNG, r.ContentType)
				require.InDelta(t, 128, rgba(decode(t, r).At(100, 10)).A, 1)
			}
		}
	})
	t.Run("keep the colour profile of an RGB picture", func(t *testing.T) {
		rgb := string(make([]byte, 16)) + "RGB " + string(bytes.Repeat([]byte("profile"), 20_000))
		cmyk := string(make([]byte, 16)) + "CMYK" + string(make([]byte, 2000))
		for profile, want := range map[string]bool{rgb: true, cmyk: false} {
			first := segment(0xE2, "ICC_PROFILE\x00\x01\x03", profile[:min(len(profile), 60_000)])
			rest := segment(0xE2, "ICC_PROFILE\x00\x02\x03", profile[min(len(profile), 60_000):min(len(profile), 120_000)])
			last := segment(0xE2, "ICC_PROFILE\x00\x03\x03", profile[min(len(profile), 120_000):])
			set := prepare(t, jpegWith(jpegOf(t, gradient(700, 30)), first, rest, last))
			require.Contains(t, string(set.Original.Content), profile[:100])
			for _, r := range set.Renditions {
				require.Equal(t, want, bytes.Contains(r.Content, []byte(profile[:1000])))
			}
		}
	})
}

func TestAnimationsKeepAllFramesAndShowTheFirst(t *testing.T) {
	t.Run("WebP", func(t *testing.T) {
		set := prepare(t, webpOf("VP8X", vp8x(0x02|0x10|0x08, 700, 130), "ANIM", "\x00\x00\x00\x00\x00\x00",
			"ANMF", frame(0, 0, 700, 130, red), "ANMF", frame(20, 30, 100, 100, blue), "EXIF", exif(6, binary.BigEndian)))
		require.Equal(t, []any{picture.WebP, 700, 130}, []any{set.Original.ContentType, set.Original.Width, set.Original.Height})
		require.Equal(t, 2, bytes.Count(set.Original.Content, []byte("ANMF")))
		require.Len(t, set.Renditions, 2)
		require.InDelta(t, red.R, rgba(decode(t, set.Renditions[0]).At(10, 10)).R, 6)
	})
	t.Run("WebP whose first frame is a part", func(t *testing.T) {
		set := prepare(t, webpOf("VP8X", vp8x(0x12, 700, 40), "ANIM", "\x00\x00\x00\x00\x00\x00", "ANMF", frame(350, 0, 350, 40, red)))
		shown := decode(t, set.Renditions[0])
		require.Zero(t, rgba(shown.At(10, 10)).A)
		require.InDelta(t, red.R, rgba(shown.At(300, 10)).R, 2)
	})
	t.Run("PNG", func(t *testing.T) {
		upload := pngWith(pngOf(t, gradient(400, 100)), "acTL", "\x00\x00\x00\x02\x00\x00\x00\x00", "eXIf", exif(6, binary.BigEndian))
		set := prepare(t, upload)
		require.Equal(t, 400, set.Original.Width, "it is not turned")
		require.Contains(t, string(set.Original.Content), "acTL")
	})
}

func TestWhatIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		upload []byte
		want   error
	}{
		"nothing":                             {nil, picture.ErrType},
		"a GIF":                               {[]byte("GIF89a"), picture.ErrType},
		"a drawing":                           {[]byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), picture.ErrType},
		"a PNG of nine hundred million":       {headOf(t, 30_000, 30_000), picture.ErrPixels},
		"a PNG that is long and thin":         {headOf(t, picture.MaxSide+1, 1), picture.ErrPixels},
		"a PNG one column too many":           {headOf(t, 5001, 5000), picture.ErrPixels},
		"a WebP of two hundred million":       {webpOf("VP8L", vp8l(16_000, 16_000, red)), picture.ErrPixels},
		"a WebP whose canvas is a bomb":       {webpOf("VP8X", vp8x(0x10, 30_000, 30_000), "VP8L", vp8l(1, 1, red)), picture.ErrPixels},
		"a WebP whose picture is not as said": {webpOf("VP8X", vp8x(0x10, 10, 10), "VP8L", vp8l(8_000, 8_000, red)), picture.ErrDamaged},
		"a frame outside of the canvas":       {webpOf("VP8X", vp8x(0x12, 10, 10), "ANMF", frame(2, 2, 10, 10, red)), picture.ErrDamaged},
		"an animation without frames":         {webpOf("VP8X", vp8x(0x12, 10, 10)), picture.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := picture.NewStudio().Prepare(t.Context(), tc.upload)
			require.ErrorIs(t, err, tc.want)
		})
	}
	t.Run("the beginning of an image", func(t *testing.T) {
		for _, whole := range [][]byte{pngOf(t, gradient(9, 9)), jpegOf(t, gradient(9, 9)), webpOf("VP8L", vp8l(9, 9, red))} {
			for cut := 16; cut < len(whole); cut++ {
				_, err := picture.NewStudio().Prepare(t.Context(), whole[:cut])
				require.ErrorIs(t, err, picture.ErrDamaged, "%d of %d bytes", cut, len(whole))
			}
		}
	})
}

// headOf is a PNG that says how large it is and then ends.
func headOf(t *testing.T, width, height uint32) []byte {
	t.Helper()
	file := pngOf(t, gradient(1, 1))
	head := binary.BigEndian.AppendUint32(nil, width)
	head = append(binary.BigEndian.AppendUint32(head, height), file[24:29]...)
	return append(bytes.Clone(file[:8]), pngWith(append(make([]byte, 33), file[33:]...), "IHDR", string(head))[33:]...)
}

func FuzzPrepare(f *testing.F) {
	small := gradient(6, 5)
	var t testing.T
	f.Add(pngOf(&t, small))
	f.Add(jpegWith(jpegOf(&t, small), segment(0xE1, "Exif\x00\x00", exif(6, binary.BigEndian))))
	f.Add(webpOf("VP8X", vp8x(0x1C, 6, 5), "VP8L", vp8l(6, 5, red), "EXIF", exif(3, binary.LittleEndian)))
	f.Add(webpOf("VP8X", vp8x(0x12, 20, 20), "ANMF", frame(2, 2, 8, 8, blue)))
	studio := picture.NewStudio()
	f.Fuzz(func(t *testing.T, upload []byte) {
		set, err := studio.Prepare(t.Context(), upload)
		if err != nil {
			return
		}
		header, _, err := image.DecodeConfig(bytes.NewReader(set.Original.Content))
		require.NoError(t, err)
		require.Equal(t, []int{set.Original.Width, set.Original.Height}, []int{header.Width, header.Height})
	})
}

func rgba(c color.Color) color.NRGBA {
	converted, _ := color.NRGBAModel.Convert(c).(color.NRGBA)
	return converted
}

func solid(width, height int, c color.Color) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

func gray(width, height int) image.Image {
	img := image.NewGray(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), gradient(width, height), image.Point{}, draw.Src)
	return img
}

func deep(width, height int) image.Image {
	img := image.NewNRGBA64(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), gradient(width, height), image.Point{}, draw.Src)
	return img
}
