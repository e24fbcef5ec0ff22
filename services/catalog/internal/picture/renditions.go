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

// Qualities of JPEG.
const (
	originalQuality  = 92
	renditionQuality = 85
)

// widths of the renditions, the largest first: each is made from the one before, which costs a
// fraction of making it from the original and looks the same.
var widths = []int{1280, 640, 320}

func renditions(pixels image.Image) ([]File, error) {
	contentType := typeFor(pixels)
	var files []File
	for _, width := range widths {
		if width >= pixels.Bounds().Dx() {
			continue
		}
		pixels = scale(pixels, width)
		file, err := encode(pixels, contentType, renditionQuality)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.Reverse(files)
	return files, nil
}

// typeFor is the type that shows an image well in few bytes.
func typeFor(pixels image.Image) string {
	if p, ok := pixels.(interface{ Opaque() bool }); ok && p.Opaque() {
		return JPEG
	}
	return PNG
}

func scale(pixels image.Image, width int) image.Image {
	size := pixels.Bounds().Size()
	height := max(1, (size.Y*width+size.X/2)/size.X)
	smaller := image.NewRGBA(image.Rect(0, 0, width, height))
	switch pixels.(type) {
	case *image.RGBA, *image.NRGBA, *image.YCbCr, *image.Gray:
	default: // Those four are scaled ten times as fast as any other.
		flat := image.NewRGBA(image.Rectangle{Max: size})
		draw.Draw(flat, flat.Bounds(), pixels, pixels.Bounds().Min, draw.Src)
		pixels = flat
	}
	draw.CatmullRom.Scale(smaller, smaller.Bounds(), pixels, pixels.Bounds(), draw.Src, nil)
	return smaller
}

func encode(pixels image.Image, contentType string, quality int) (File, error) {
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
	size := pixels.Bounds().Size()
	return File{Content: b.Bytes(), ContentType: contentType, Width: size.X, Height: size.Y}, nil
}
