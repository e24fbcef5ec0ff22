// Package picture prepares uploaded images for the public: it decodes them, turns them upright, encodes
// them again and makes smaller renditions.
//
// Only pixels get through. EXIF with its position and thumbnail, XMP, IPTC, texts, comments and bytes
// behind the end of the image do not. Neither does a colour profile: colours are read as sRGB, so an
// image of a wider colour space comes out paler.
//
// A JPEG stays a JPEG and a PNG stays a PNG. A WebP becomes a JPEG or, with transparency, a PNG. Of an
// animated PNG its still image remains; an animated WebP is refused.
//
// Renditions are 320, 640 and 1280 pixels wide, as far as the image is wider. They are JPEG or, with
// transparency, PNG.
//
// # Limits
//
// An image has at most 25 million pixels and 8192 in a row or column, read from its header before
// anything is decoded. At any moment a Processor holds images of at most that many pixels together,
// which takes 600 MB at worst; further images wait.
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

// Processor prepares images. A process needs one.
type Processor struct {
	pixels *semaphore.Weighted
}

// NewProcessor makes a processor.
func NewProcessor() *Processor { return &Processor{pixels: semaphore.NewWeighted(MaxPixels)} }

// Prepare makes the original and its renditions from an uploaded image. The same bytes return the same
// files. It refuses an image with ErrType, ErrDamaged or ErrPixels.
func (p *Processor) Prepare(ctx context.Context, content []byte) (Set, error) {
	var set Set
	err := p.decode(ctx, content, func(pixels image.Image, contentType string) (err error) {
		if set.Original, err = encode(pixels, contentType, originalQuality); err != nil {
			return err
		}
		set.Renditions, err = renditions(pixels)
		return err
	})
	return set, err
}

// PrepareLogo is Prepare without renditions.
func (p *Processor) PrepareLogo(ctx context.Context, content []byte) (File, error) {
	var logo File
	err := p.decode(ctx, content, func(pixels image.Image, contentType string) (err error) {
		logo, err = encode(pixels, contentType, originalQuality)
		return err
	})
	return logo, err
}

// decode runs work on the upright image and the type to store it as.
func (p *Processor) decode(ctx context.Context, content []byte, work func(pixels image.Image, contentType string) error) error {
	contentType := http.DetectContentType(content)
	if contentType != JPEG && contentType != PNG && contentType != WebP {
		return ErrType
	}
	header, _, err := image.DecodeConfig(bytes.NewReader(content))
	switch {
	case err != nil || header.Width < 1 || header.Height < 1:
		return ErrDamaged
	case header.Width > MaxSide || header.Height > MaxSide || header.Width*header.Height > MaxPixels:
		return ErrPixels
	}
	size := int64(header.Width) * int64(header.Height)
	if err := p.pixels.Acquire(ctx, size); err != nil {
		return fmt.Errorf("wait for other images: %w", err)
	}
	defer p.pixels.Release(size)
	pixels, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return ErrDamaged
	}
	if contentType == WebP {
		contentType = typeFor(pixels) // There is no encoder of WebP.
	}
	return work(upright(pixels, orientation(content)), contentType)
}
