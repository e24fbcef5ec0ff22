package picture

import (
	"image"

	"golang.org/x/image/draw"
)

// upright gives the file to be served and what it shows. An image that stands upright, as nearly all
// do, is served as it came.
func (s *source) upright(shown image.Image) (File, image.Image, error) {
	size := shown.Bounds().Size()
	original := File{Content: s.clean, ContentType: s.contentType, Width: size.X, Height: size.Y}
	if s.orientation == upright || s.animated {
		return original, shown, nil
	}
	turned := turn(flat(shown), s.orientation)
	contentType := s.contentType
	if contentType == WebP {
		contentType = typeFor(turned)
	}
	file, err := encode(turned, contentType, turnedQuality, profileOf(original))
	return file, turned, err
}

// flat gives the pixels in the one form that is turned.
func flat(shown image.Image) *image.RGBA {
	if pixels, ok := shown.(*image.RGBA); ok {
		return pixels
	}
	pixels := image.NewRGBA(image.Rectangle{Max: shown.Bounds().Size()})
	draw.Draw(pixels, pixels.Bounds(), shown, shown.Bounds().Min, draw.Src)
	return pixels
}

// turn makes a picture upright. From orientation 5 on its rows are columns.
func turn(from *image.RGBA, orientation int) *image.RGBA {
	const firstTransposed = 5
	size := from.Bounds().Size()
	width, height := size.X, size.Y
	if orientation >= firstTransposed {
		size = image.Pt(size.Y, size.X)
	}
	to := image.NewRGBA(image.Rectangle{Max: size})
	const bytesPerPixel = 4
	for y := range size.Y {
		row := to.Pix[y*to.Stride:]
		for x := range size.X {
			sx, sy := origin(orientation, x, y, width, height)
			at := sy*from.Stride + sx*bytesPerPixel
			copy(row[x*bytesPerPixel:(x+1)*bytesPerPixel], from.Pix[at:at+bytesPerPixel])
		}
	}
	return to
}

// origin is where the pixel of the upright picture at x, y stands in the one of width and height as
// it was stored.
func origin(orientation, x, y, width, height int) (int, int) {
	right, bottom := width-1, height-1
	switch orientation {
	case 2:
		return right - x, y
	case 3:
		return right - x, bottom - y
	case 4:
		return x, bottom - y
	case 5:
		return y, x
	case 6:
		return y, bottom - x
	case 7:
		return right - y, bottom - x
	case 8:
		return right - y, x
	}
	return x, y
}
