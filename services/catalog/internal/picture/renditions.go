package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"

	"golang.org/x/image/draw"
)

// Qualities of JPEG: a rendition is looked at once, a turned original is what there is.
const (
	renditionQuality = 85
	turnedQuality    = 92
)

// widths of the renditions, the largest first: each is made from the one before, which costs a
// fraction of making it from the original and looks the same.
var widths = []int{1280, 640, 320}

func renditions(shown image.Image, profile []byte) ([]File, error) {
	contentType := typeFor(shown)
	var files []File
	for _, width := range widths {
		if width >= shown.Bounds().Dx() {
			continue
		}
		smaller := scale(shown, width)
		file, err := encode(smaller, contentType, renditionQuality, profile)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		shown = smaller
	}
	slices.Reverse(files)
	return files, nil
}

// typeFor is the type that shows a picture well in few bytes.
func typeFor(shown image.Image) string {
	if o, ok := shown.(interface{ Opaque() bool }); ok && o.Opaque() {
		return JPEG
	}
	return PNG
}

func scale(shown image.Image, width int) *image.RGBA {
	size := shown.Bounds().Size()
	height := max(1, (size.Y*width+size.X/2)/size.X)
	smaller := image.NewRGBA(image.Rect(0, 0, width, height))
	switch shown.(type) {
	case *image.RGBA, *image.NRGBA, *image.YCbCr, *image.Gray:
	default: // These four are scaled ten times as fast as any other.
		shown = flat(shown)
	}
	draw.CatmullRom.Scale(smaller, smaller.Bounds(), shown, shown.Bounds(), draw.Src, nil)
	return smaller
}

func encode(pixels *image.RGBA, contentType string, quality int, profile []byte) (File, error) {
	var b bytes.Buffer
	var err error
	if contentType == PNG {
		err = png.Encode(&b, pixels)
	} else {
		err = jpeg.Encode(&b, pixels, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return File{}, fmt.Errorf("encode image: %w", err)
	}
	content, err := withProfile(contentType, b.Bytes(), profile)
	if err != nil {
		return File{}, fmt.Errorf("encode colour profile: %w", err)
	}
	size := pixels.Bounds().Size()
	return File{Content: content, ContentType: contentType, Width: size.X, Height: size.Y}, nil
}
