// Package picture makes uploaded images fit to be served: it tells their type by their bytes, takes
// out what they say of people and places, turns them upright and makes smaller renditions.
//
// Taken out is everything a viewer does not need to show the picture: EXIF with its position and
// thumbnail, XMP, IPTC, comments and texts, maker's data, and whatever follows the end of the image.
// Kept are the colour profile and, of an animation, all frames. The picture's own data stay as they
// are, byte for byte, unless the image says that it must be turned: then it is encoded anew, a JPEG as
// JPEG, a PNG as PNG, a WebP as JPEG or, with transparency, as PNG. An animation is never turned.
//
// Renditions are 320, 640 and 1280 pixels wide, as far as the image is wider; those of an animation
// show its first frame. They are JPEG, or PNG where the image has transparency.
//
// # Limits
//
// An image has at most 25 million pixels and 8192 in a row or column, read from its header before
// anything is decoded. At any moment a Studio holds images of at most that many pixels together,
// which needs some 600 MB at worst; who comes later waits.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // Decodes JPEG.
	_ "image/png"  // Decodes PNG.
	"net/http"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // Decodes WebP.
	"golang.org/x/sync/semaphore"
)

// The types an image may have.
const (
	JPEG = "image/jpeg"
	PNG  = "image/png"
	WebP = "image/webp"
)

// MaxPixels and MaxSide bound what is decoded.
const (
	MaxPixels = 25_000_000
	MaxSide   = 8192
)

// The reasons an image is refused.
var (
	ErrType    = errors.New("is not a PNG, JPEG or WebP image")
	ErrDamaged = errors.New("is damaged, or of a kind that is not supported")
	ErrPixels  = errors.New("has too many pixels")
)

// File is an image as it is stored.
type File struct {
	Content     []byte
	ContentType string
	Width       int
	Height      int
}

// Set is an image with its renditions, the smallest first.
type Set struct {
	Original   File
	Renditions []File
}

// Studio prepares images.
type Studio struct {
	pixels *semaphore.Weighted
}

// NewStudio makes a studio, of which a process needs one.
func NewStudio() *Studio { return &Studio{pixels: semaphore.NewWeighted(MaxPixels)} }

// Prepare makes an uploaded image fit to be served. The same bytes give the same files. An image it
// refuses gives ErrType, ErrDamaged or ErrPixels.
func (s *Studio) Prepare(ctx context.Context, content []byte) (Set, error) {
	var set Set
	err := s.open(ctx, content, func(original File, shown image.Image) (err error) {
		set.Original = original
		set.Renditions, err = renditions(shown, profileOf(original))
		return err
	})
	return set, err
}

// PrepareLogo is Prepare without renditions.
func (s *Studio) PrepareLogo(ctx context.Context, content []byte) (File, error) {
	var logo File
	err := s.open(ctx, content, func(original File, _ image.Image) error {
		logo = original
		return nil
	})
	return logo, err
}

// open gives work the cleaned file and what it shows. Decoding what will be served, rather than the
// upload, proves that it can be.
func (s *Studio) open(ctx context.Context, content []byte, work func(original File, shown image.Image) error) error {
	src, err := read(content)
	if err != nil {
		return err
	}
	canvas, err := src.canvas()
	if err != nil {
		return err
	}
	pixels := int64(canvas.Dx()) * int64(canvas.Dy())
	if err := s.pixels.Acquire(ctx, pixels); err != nil {
		return fmt.Errorf("wait for other images: %w", err)
	}
	defer s.pixels.Release(pixels)
	shown, err := src.decode(canvas)
	if err != nil {
		return err
	}
	original, shown, err := src.upright(shown)
	if err != nil {
		return err
	}
	return work(original, shown)
}

// source is an upload without what is not needed to show it.
type source struct {
	contentType string
	clean       []byte
	// first is the first frame of an animation that cannot be decoded as it is, and where it stands.
	first    []byte
	position image.Point
	animated bool
	// orientation is the EXIF value, 1 for an upright image.
	orientation int
}

func read(content []byte) (source, error) {
	s := source{contentType: http.DetectContentType(content), orientation: 1}
	var err error
	switch s.contentType {
	case JPEG:
		err = s.readJPEG(content)
	case PNG:
		err = s.readPNG(content)
	case WebP:
		err = s.readWebP(content)
	default:
		return source{}, ErrType
	}
	return s, err
}

// canvas judges the headers alone.
func (s *source) canvas() (image.Rectangle, error) {
	canvas, err := bounds(s.clean)
	if err != nil {
		return image.Rectangle{}, err
	}
	if canvas.Dx() > MaxSide || canvas.Dy() > MaxSide || canvas.Dx()*canvas.Dy() > MaxPixels {
		return image.Rectangle{}, ErrPixels
	}
	if s.first == nil {
		return canvas, nil
	}
	frame, err := bounds(s.first)
	if err != nil || !frame.Add(s.position).In(canvas) {
		return image.Rectangle{}, ErrDamaged
	}
	return canvas, nil
}

func bounds(file []byte) (image.Rectangle, error) {
	header, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || header.Width < 1 || header.Height < 1 {
		return image.Rectangle{}, ErrDamaged
	}
	return image.Rect(0, 0, header.Width, header.Height), nil
}

// decode gives what the image shows at first.
func (s *source) decode(canvas image.Rectangle) (image.Image, error) {
	file := s.clean
	if s.first != nil {
		file = s.first
	}
	shown, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, ErrDamaged
	}
	if s.first == nil || shown.Bounds() == canvas {
		return shown, nil
	}
	whole := image.NewRGBA(canvas)
	draw.Draw(whole, shown.Bounds().Add(s.position), shown, shown.Bounds().Min, draw.Src)
	return whole, nil
}
