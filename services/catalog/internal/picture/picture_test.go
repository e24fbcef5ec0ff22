package picture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"

	"github.com/partnergifting/platform/services/catalog/internal/picture"
)

var (
	red  = color.NRGBA{R: 200, G: 20, B: 30, A: 255}
	blue = color.NRGBA{R: 20, G: 30, B: 200, A: 128}
)

const maxBytes = 10 << 20

// secrets must not be in any resulting file.
var secrets = []string{
	"GPS", "59.3293", "note of the maker", "ns.adobe.com/xap", "a comment", "after the end", "Ann Berg", "profile",
}

func prepare(t *testing.T, content []byte) picture.Set {
	t.Helper()
	set, err := picture.NewProcessor(maxBytes).Prepare(t.Context(), content)
	require.NoError(t, err)
	for _, file := range append(set.Renditions, set.Original) {
		for _, secret := range secrets {
			require.NotContains(t, string(file.Content), secret)
		}
		require.Equal(t, image.Rect(0, 0, file.Width, file.Height), decode(t, file).Bounds())
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

func TestOnlyPixelsAreKept(t *testing.T) {
	t.Parallel()
	png, jpeg, lossless := pngOf(t, gradient(400, 30)), jpegOf(t, gradient(400, 30)), vp8l(400, 30, blue)
	const xmp = "http://ns.adobe.com/xap/1.0/\x00<x/>"
	for name, tc := range map[string]struct {
		upload, plain []byte
		contentType   string
	}{
		"a PNG": {
			append(pngWith(png, "tEXt", "Author\x00Ann Berg", "zTXt", "a comment", "iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+xmp,
				"tIME", "1234567", "eXIf", exif(1, binary.BigEndian), "prVt", "note of the maker"), "after the end"...),
			png, picture.PNG,
		},
		"a JPEG": {
			append(jpegWith(jpeg, segment(0xE0, "JFXX\x00\x10Ann Berg"), segment(0xE1, "Exif\x00\x00", exif(1, binary.LittleEndian)),
				segment(0xE1, xmp), segment(0xED, "Photoshop 3.0\x00Ann Berg"), segment(0xE2, "MPF\x00note of the maker"),
				segment(0xE2, "ICC_PROFILE\x00\x01\x01profile"), segment(0xFE, "a comment")), "after the end"...),
			jpeg, picture.JPEG,
		},
		"a WebP": {
			append(webpOf("VP8X", vp8x(0x10|0x08|0x04, 400, 30), "ICCP", "profile", "VP8L", lossless, "EXIF", exif(1, binary.LittleEndian),
				"XMP ", xmp, "NOTE", "a comment"), "after the end"...),
			webpOf("VP8L", lossless), picture.PNG,
		},
		"an opaque WebP": {
			webpOf("VP8X", vp8x(0, 400, 30), "VP8L", vp8l(400, 30, red)), webpOf("VP8L", vp8l(400, 30, red)), picture.JPEG,
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := prepare(t, tc.upload)
			require.Equal(t, tc.contentType, set.Original.ContentType)
			require.Len(t, set.Renditions, 1)
			require.Equal(t, prepare(t, tc.plain), set, "the file is that of the pixels alone")
		})
	}
	t.Run("an animated PNG keeps its still image", func(t *testing.T) {
		set := prepare(t, pngWith(png, "acTL", "\x00\x00\x00\x02\x00\x00\x00\x00"))
		require.Equal(t, prepare(t, png), set)
	})
}

func TestImagesAreTurnedUpright(t *testing.T) {
	t.Parallel()
	const width, height = 5, 3
	stored := gradient(width, height)
	topLeft, topRight := image.Pt(0, 0), image.Pt(1, 0)
	bottomLeft, bottomRight := image.Pt(0, 1), image.Pt(1, 1)
	// The corners to which the first pixel of the stored image and the last one of its first row move.
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
	t.Run("of every type", func(t *testing.T) {
		webp := func(c color.NRGBA, name string) []byte {
			return webpOf("VP8X", vp8x(0x18, 400, 200), "ODD ", "x", "VP8L", vp8l(400, 200, c), "EXIF", name+exif(8, binary.BigEndian))
		}
		plain := jpegOf(t, gradient(400, 200))
		for _, tc := range []struct {
			upload      []byte
			contentType string
		}{
			{jpegWith(plain, segment(0xE0, "JFIF"), segment(0xE1, "Exif\x00\x00", exif(6, binary.BigEndian))), picture.JPEG},
			{webp(red, "Exif\x00\x00"), picture.JPEG},
			{webp(blue, ""), picture.PNG},
		} {
			set := prepare(t, tc.upload)
			require.Equal(t, []any{tc.contentType, 200, 400}, []any{set.Original.ContentType, set.Original.Width, set.Original.Height})
		}
	})
	t.Run("an unknown orientation is ignored", func(t *testing.T) {
		for _, orientation := range []int{0, 9, 65535} {
			set := prepare(t, pngWith(pngOf(t, stored), "eXIf", exif(orientation, binary.BigEndian)))
			require.Equal(t, pngOf(t, stored), set.Original.Content)
		}
	})
	t.Run("damaged EXIF data are ignored", func(t *testing.T) {
		data := exif(6, binary.BigEndian)
		for cut := range len(data) - len("GPS 59.3293 N 18.0686 E") - 12 {
			set := prepare(t, pngWith(pngOf(t, stored), "eXIf", data[:cut]))
			require.Equal(t, pngOf(t, stored), set.Original.Content)
		}
		set := prepare(t, jpegWith(jpegOf(t, stored), segment(0xE1, "Exif\x00\x00MM\x00*\xff\xff\xff\xff")))
		require.Equal(t, width, set.Original.Width)
	})
}

func TestRenditions(t *testing.T) {
	t.Parallel()
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
	t.Run("show the uploaded image, as the original does", func(t *testing.T) {
		for _, original := range []image.Image{gradient(400, 60), gray(400, 60), deep(400, 60)} {
			for _, upload := range [][]byte{pngOf(t, original), jpegOf(t, original)} {
				set := prepare(t, upload)
				require.Len(t, set.Renditions, 1)
				requireShown(t, original, set.Original)
				requireShown(t, original, set.Renditions[0])
			}
		}
	})
	t.Run("of the same bytes are the same", func(t *testing.T) {
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
}

// requireShown checks that a file shows the corners and the middle of an image of 400 by 60 pixels.
func requireShown(t *testing.T, want image.Image, file picture.File) {
	t.Helper()
	shown := decode(t, file)
	for _, at := range [][2]int{{0, 0}, {399, 0}, {0, 59}, {399, 59}, {200, 30}} {
		x, y := at[0]*(file.Width-1)/399, at[1]*(file.Height-1)/59
		want, got := rgba(want.At(at[0], at[1])), rgba(shown.At(x, y))
		require.InDelta(t, want.R, got.R, 12)
		require.InDelta(t, want.G, got.G, 12)
		require.InDelta(t, want.B, got.B, 12)
	}
}

func TestRefusedImages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		upload []byte
		want   error
	}{
		"nothing":                            {nil, picture.ErrType},
		"a GIF":                              {[]byte("GIF89a"), picture.ErrType},
		"a drawing":                          {[]byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), picture.ErrType},
		"a PNG of nine hundred million":      {headOf(t, 30_000, 30_000), picture.ErrPixels},
		"a PNG that is long and thin":        {headOf(t, picture.MaxSide+1, 1), picture.ErrPixels},
		"a PNG one column too many":          {headOf(t, 5001, 5000), picture.ErrPixels},
		"a WebP of two hundred million":      {webpOf("VP8L", vp8l(16_000, 16_000, red)), picture.ErrPixels},
		"a WebP with a huge canvas":          {webpOf("VP8X", vp8x(0x10, 30_000, 30_000), "VP8L", vp8l(1, 1, red)), picture.ErrPixels},
		"a WebP larger than its header says": {webpOf("VP8X", vp8x(0x10, 10, 10), "VP8L", vp8l(8_000, 8_000, red)), picture.ErrDamaged},
		"an animated WebP":                   {webpOf("VP8X", vp8x(0x12, 10, 10), "ANMF", frame(10, 10, red)), picture.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := picture.NewProcessor(maxBytes).Prepare(t.Context(), tc.upload)
			require.ErrorIs(t, err, tc.want)
		})
	}
	t.Run("the beginning of an image", func(t *testing.T) {
		webp := webpOf("VP8L", vp8l(9, 9, red))
		webp = webp[:len(webp)-3] // The last bytes are only padding.
		for _, whole := range [][]byte{pngOf(t, gradient(9, 9)), jpegOf(t, gradient(9, 9)), webp} {
			for cut := 16; cut < len(whole); cut++ {
				_, err := picture.NewProcessor(maxBytes).Prepare(t.Context(), whole[:cut])
				require.ErrorIs(t, err, picture.ErrDamaged, "%d of %d bytes", cut, len(whole))
			}
		}
	})
}

func TestAFileThatGrowsGetsALowerQualityOrIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		width, height int
		prepare       func(p *picture.Processor, ctx context.Context, upload []byte) (picture.Set, error)
	}{
		"a gift":         {300, 100, (*picture.Processor).Prepare},
		"a hero picture": {picture.MinHeroWidth, 534, (*picture.Processor).PrepareHero},
		"a logo":         {300, 100, (*picture.Processor).PrepareLogo},
	} {
		t.Run(name, func(t *testing.T) {
			noise := image.NewGray(image.Rect(0, 0, tc.width, tc.height))
			for i := range noise.Pix {
				noise.Pix[i] = uint8(rand.N(256))
			}
			upload := jpegOf(t, noise)
			stored, err := tc.prepare(picture.NewProcessor(len(upload)), t.Context(), upload)
			require.NoError(t, err)
			require.Equal(t, picture.JPEG, stored.Original.ContentType)
			require.LessOrEqual(t, len(stored.Original.Content), len(upload))

			upload = pngOf(t, noise)
			_, err = tc.prepare(picture.NewProcessor(len(upload)-1), t.Context(), upload)
			require.ErrorIs(t, err, picture.ErrBytes)
		})
	}
	t.Run("also a rendition", func(t *testing.T) {
		stencil := image.NewPaletted(image.Rect(0, 0, 400, 300), color.Palette{color.Transparent, color.Black})
		for i := range stencil.Pix {
			stencil.Pix[i] = uint8(rand.N(2))
		}
		upload := pngOf(t, stencil)
		_, err := picture.NewProcessor(len(upload)).Prepare(t.Context(), upload)
		require.ErrorIs(t, err, picture.ErrBytes)
	})
}

// headOf is a PNG that ends after the header with its size.
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
	processor := picture.NewProcessor(maxBytes)
	f.Fuzz(func(t *testing.T, upload []byte) {
		set, err := processor.Prepare(t.Context(), upload)
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

func TestAProgressiveJPEGOfManyScansIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p := picture.NewProcessor(10 << 20)
	_, err := p.Prepare(ctx, progressive(2048, 20_000))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestOneImageIsPreparedAtATime(t *testing.T) {
	t.Parallel()
	p := picture.NewProcessor(maxBytes)
	small := pngOf(t, gradient(9, 9))
	first := pausedContext{Context: t.Context(), reads: make(chan struct{}), resume: make(chan struct{})}
	done := make(chan error)
	go func() {
		_, err := p.Prepare(first, small)
		done <- err
	}()
	<-first.reads
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := p.Prepare(ctx, small)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(first.resume)
	require.NoError(t, <-done)
}

// pausedContext stops the decoder, which asks for Err before it reads.
type pausedContext struct {
	context.Context

	reads, resume chan struct{}
}

func (c pausedContext) Err() error {
	select {
	case c.reads <- struct{}{}:
	case <-c.resume:
	}
	<-c.resume
	return c.Context.Err()
}

// progressive returns a grey JPEG of equal sides with many scans, each of which says nothing of any block.
func progressive(side uint16, scans int) []byte {
	const blocksOfRun = 1 << 14
	blocks := int(side/8) * int(side/8)
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, side), side)
	file := slices.Concat(
		[]byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}, bytes.Repeat([]byte{1}, 64), // All quantization factors are 1.
		[]byte{0xff, 0xc2, 0, 11, 8}, size, []byte{1, 1, 0x11, 0}, // One component.
		huffmanTable(0x00, 0), huffmanTable(0x10, 0xe0), // The only codes: no difference, and a run of blocks without values.
		[]byte{0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0}, make([]byte, blocks/8),
	)
	runs := (blocks + blocksOfRun - 1) / blocksOfRun
	scan := append([]byte{0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0}, make([]byte, (runs*15+7)/8)...)
	return append(append(file, bytes.Repeat(scan, scans)...), 0xff, 0xd9)
}

// huffmanTable has one code, of one bit.
func huffmanTable(class, value byte) []byte {
	return slices.Concat([]byte{0xff, 0xc4, 0, 20, class, 1}, make([]byte, 15), []byte{value})
}
