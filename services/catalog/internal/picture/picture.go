// Package picture prepares uploaded images for the public: it decodes them, rotates them upright, encodes them again and makes
// smaller renditions. Only pixels are kept: metadata, comments and colour profiles are removed, and colours are read as sRGB.
//
// A JPEG stays a JPEG and a PNG stays a PNG. A WebP becomes a JPEG or, with transparency, a PNG: integrators show renditions in
// e-mails, where WebP is not shown everywhere, and Go has no encoder for it. An animated WebP is refused.
//
// An image has at most 25 million pixels and 8192 in a row or column, read from its header before anything is decoded. A Processor
// prepares one image at a time, which takes 600 MB at worst; further images wait.
//
// A file can grow when it is encoded again. A JPEG then gets a lower quality; what remains too large is refused.
package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"net/http"
	"slices"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // Decodes WebP.
	"golang.org/x/sync/semaphore"

	"github.com/partnergifting/platform/pkg/problem"
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

// RefusalError is why an image is refused: a code of a field error, and what the image must be.
type RefusalError struct{ Code, Message string }

func (e *RefusalError) Error() string { return "the image " + e.Message }

// The reasons why an image is refused.
var (
	ErrType          = refusal(problem.FieldInvalid, "must be a PNG, JPEG or WebP image")
	ErrDamaged       = refusal(problem.FieldInvalid, "is damaged, or of a kind that is not supported")
	ErrPixels        = refusal(problem.FieldTooLong, "must have at most 25 million pixels, and 8192 in a row or column")
	ErrBytes         = refusal(problem.FieldTooLong, "must have at most 10 MB, also encoded again: use fewer pixels")
	ErrHeroWidth     = refusal(problem.FieldInvalid, "must be at least 1600 pixels wide")
	ErrHeroRatio     = refusal(problem.FieldInvalid, "must be a landscape with a ratio between 4:3 and 3:1")
	ErrPortraitSize  = refusal(problem.FieldInvalid, "must be at least 320 pixels wide and high")
	ErrPortraitRatio = refusal(problem.FieldInvalid, "must be nearly square, with a ratio between 4:5 and 5:4")
	ErrSignatureSize = refusal(problem.FieldInvalid, "must be at least 320 pixels wide, and not higher than wide")
	ErrUnseenOnWhite = refusal(problem.FieldInvalid,
		"must be seen on white, which is its background on light and on dark pages: use the version for light backgrounds")
	ErrUnseenOnDark = refusal(problem.FieldInvalid,
		"must be seen on #1f2329, which is its background on dark pages: use the version for dark backgrounds")
)

func refusal(code, message string) error { return &RefusalError{Code: code, Message: message} }

// File is an image as it is stored.
type File struct {
	Content     []byte
	ContentType string
	Width       int
	Height      int
}

// Set is an image with its renditions, the smallest first. Logos and the pictures of a sender have none.
type Set struct {
	Original   File
	Renditions []File
}

// Processor prepares images. A process needs only one.
type Processor struct {
	slot     *semaphore.Weighted // One call holds an image at a time.
	maxBytes int
}

// NewProcessor makes a processor of files that have at most maxBytes bytes after they are encoded again.
func NewProcessor(maxBytes int) *Processor {
	return &Processor{slot: semaphore.NewWeighted(1), maxBytes: maxBytes}
}

// Prepare makes the original and its renditions from an uploaded image. The same bytes result in the same files. Errors are
// ErrType, ErrDamaged, ErrPixels or ErrBytes.
func (p *Processor) Prepare(ctx context.Context, content []byte) (Set, error) {
	var set Set
	err := p.decode(ctx, content, func(pixels image.Image, contentType string) (err error) {
		if set.Original, err = p.encode(pixels, contentType, originalQuality); err != nil {
			return err
		}
		contentType = typeFor(pixels)
		set.Renditions, err = renditions(pixels, widths, func(pixels image.Image) (File, error) {
			return p.encode(pixels, contentType, renditionQuality)
		})
		return err
	})
	return set, err
}

// MinHeroWidth is the minimum width of a hero picture. Its ratio is between 4:3 and 3:1: phones show its middle as a
// square, and wide screens as a band.
const MinHeroWidth = 1600

// PrepareHero is Prepare for a hero picture. Its renditions are wider, and each has at most MaxShown bytes: one that cannot be so
// small is left out. Errors are also ErrHeroWidth and ErrHeroRatio.
func (p *Processor) PrepareHero(ctx context.Context, content []byte) (Set, error) {
	var set Set
	err := p.decode(ctx, content, func(pixels image.Image, contentType string) (err error) {
		switch size := pixels.Bounds().Size(); {
		case size.X < MinHeroWidth:
			return ErrHeroWidth
		case 3*size.X < 4*size.Y || size.X > 3*size.Y:
			return ErrHeroRatio
		}
		if set.Original, err = p.encode(pixels, contentType, originalQuality); err != nil {
			return err
		}
		set.Renditions, err = renditions(onWhite(pixels), append([]int{2560, 1920}, widths...), func(pixels image.Image) (File, error) {
			return encodeWithin(pixels, JPEG, renditionQuality, MaxShown)
		})
		set.Renditions = slices.DeleteFunc(set.Renditions, func(f File) bool { return len(f.Content) > MaxShown })
		return err
	})
	return set, err
}

// onWhite is the image without transparency, which JPEG does not have.
func onWhite(pixels image.Image) image.Image {
	if typeFor(pixels) == JPEG {
		return pixels
	}
	flat := image.NewRGBA(image.Rectangle{Max: pixels.Bounds().Size()})
	draw.Draw(flat, flat.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), pixels, pixels.Bounds().Min, draw.Over)
	return flat
}

// darkBackground is the background of a logo on dark pages of the gift site. On light ones it is white, and also on dark ones for a
// logo that has no version for them.
var darkBackground = color.RGBA{R: 0x1F, G: 0x23, B: 0x29, A: 0xFF}

// PrepareLogo is Prepare without renditions. Errors are also ErrUnseenOnWhite.
func (p *Processor) PrepareLogo(ctx context.Context, content []byte) (Set, error) {
	return p.prepareLogo(ctx, content, color.White, ErrUnseenOnWhite)
}

// PrepareDarkLogo is PrepareLogo for dark pages. Errors are also ErrUnseenOnDark.
func (p *Processor) PrepareDarkLogo(ctx context.Context, content []byte) (Set, error) {
	return p.prepareLogo(ctx, content, darkBackground, ErrUnseenOnDark)
}

func (p *Processor) prepareLogo(ctx context.Context, content []byte, background color.Color, unseen error) (Set, error) {
	var set Set
	err := p.decode(ctx, content, func(pixels image.Image, contentType string) (err error) {
		if !seenOn(background, pixels) {
			return unseen
		}
		set.Original, err = p.encode(pixels, contentType, originalQuality)
		return err
	})
	return set, err
}

// senderWidth is the width of the portrait and of the signature of a sender at least. It is enough for every screen, so a portrait
// is stored with it. A signature is stored with at most twice that width.
const senderWidth = 320

// PreparePortrait makes a small JPEG of a portrait, without renditions. Errors are also ErrPortraitSize and ErrPortraitRatio.
func (p *Processor) PreparePortrait(ctx context.Context, content []byte) (Set, error) {
	var set Set
	err := p.decode(ctx, content, func(pixels image.Image, _ string) (err error) {
		switch size := pixels.Bounds().Size(); {
		case min(size.X, size.Y) < senderWidth:
			return ErrPortraitSize
		case 5*size.X < 4*size.Y || 4*size.X > 5*size.Y:
			return ErrPortraitRatio
		}
		set.Original, err = encode(onWhite(scale(pixels, senderWidth)), JPEG, renditionQuality)
		return err
	})
	return set, err
}

// PrepareSignature makes a small image of a signature, without renditions. Errors are also ErrSignatureSize and ErrUnseenOnWhite.
func (p *Processor) PrepareSignature(ctx context.Context, content []byte) (Set, error) {
	var set Set
	err := p.decode(ctx, content, func(pixels image.Image, contentType string) (err error) {
		size := pixels.Bounds().Size()
		if size.X < senderWidth || size.Y > size.X {
			return ErrSignatureSize
		}
		small := scale(pixels, min(2*senderWidth, size.X))
		if !hasVisibleInk(small) {
			return ErrUnseenOnWhite
		}
		set.Original, err = encode(small, contentType, renditionQuality)
		return err
	})
	return set, err
}

// decode calls work with the upright image and its type in storage.
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
	if err := p.slot.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for other images: %w", err)
	}
	defer p.slot.Release(1)
	pixels, _, err := image.Decode(untilDone{ctx, bytes.NewReader(content)})
	if ctx.Err() != nil {
		return fmt.Errorf("decode: %w", ctx.Err())
	}
	if err != nil {
		return ErrDamaged
	}
	if contentType == WebP {
		contentType = typeFor(pixels) // There is no WebP encoder.
	}
	return work(rotateUpright(pixels, orientation(content)), contentType)
}

// untilDone reads until ctx is done. A progressive JPEG may have thousands of scans, and each goes through all pixels.
type untilDone struct {
	ctx context.Context //nolint:containedctx // The decoder takes none.
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Qualities of JPEG.
const (
	originalQuality  = 92
	renditionQuality = 85
)

// widths of the renditions, the largest first: each is made from the previous one, which is much cheaper than from the original
// and looks the same.
var widths = []int{1280, 640, 320}

func renditions(pixels image.Image, widths []int, encode func(image.Image) (File, error)) ([]File, error) {
	var files []File
	for _, width := range widths {
		if width >= pixels.Bounds().Dx() {
			continue
		}
		pixels = scale(pixels, width)
		file, err := encode(pixels)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.Reverse(files)
	return files, nil
}

// typeFor is JPEG, whose files are smaller, or PNG for an image with transparency.
func typeFor(pixels image.Image) string {
	if p, ok := pixels.(interface{ Opaque() bool }); ok && p.Opaque() {
		return JPEG
	}
	return PNG
}

// seenOn reports whether some of a logo's visible pixels have the contrast to the background that WCAG requires of graphics.
func seenOn(background color.Color, logo image.Image) bool {
	const sampleWidth, minShare = 200, 0.02
	small := scale(logo, min(sampleWidth, logo.Bounds().Dx()))
	shown := image.NewRGBA(small.Bounds())
	draw.Draw(shown, shown.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	draw.Draw(shown, shown.Bounds(), small, image.Point{}, draw.Over)
	seen, visible := 0, 0
	for i := range small.Bounds().Dx() * small.Bounds().Dy() {
		x, y := i%small.Bounds().Dx(), i/small.Bounds().Dx()
		if _, _, _, alpha := small.At(x, y).RGBA(); alpha < 0x8000 {
			continue
		}
		visible++
		if contrast(shown.At(x, y), background) >= minContrast {
			seen++
		}
	}
	return seen > 0 && float64(seen) >= minShare*float64(visible)
}

// hasVisibleInk reports whether a signature, as it is stored, has a line that is seen on white. A thin pen would be lost in the
// sample of seenOn, and is a small share of a scan with wide margins. A speck of dust is no line.
func hasVisibleInk(signature image.Image) bool {
	shown, size := onWhite(signature), signature.Bounds().Size()
	missing := size.X / 10
	for i := range size.X * size.Y {
		if contrast(shown.At(i%size.X, i/size.X), color.White) >= minContrast {
			missing--
		}
		if missing == 0 {
			return true
		}
	}
	return false
}

// minContrast is what WCAG requires of graphics.
const minContrast = 3

// contrast is the contrast of two colours as WCAG defines it.
func contrast(a, b color.Color) float64 {
	const flare = 0.05
	one, other := luminance(a)+flare, luminance(b)+flare
	return max(one, other) / min(one, other)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// linear is the light of a channel of sRGB.
func linear(channel uint32) float64 {
	return math.Pow(float64(channel)/0xFFFF, 2.2) // Near enough to the curve of sRGB.
}

func scale(pixels image.Image, width int) image.Image {
	size := pixels.Bounds().Size()
	height := max(1, (size.Y*width+size.X/2)/size.X)
	smaller := image.NewRGBA(image.Rect(0, 0, width, height))
	switch pixels.(type) {
	case *image.RGBA, *image.NRGBA, *image.YCbCr, *image.Gray:
	default: // These four types are scaled ten times as fast as others.
		flat := image.NewRGBA(image.Rectangle{Max: size})
		draw.Draw(flat, flat.Bounds(), pixels, pixels.Bounds().Min, draw.Src)
		pixels = flat
	}
	draw.CatmullRom.Scale(smaller, smaller.Bounds(), pixels, pixels.Bounds(), draw.Src, nil)
	return smaller
}

// MaxShown bounds, in bytes, the pictures that are loaded before anything else is seen.
const MaxShown = 250 << 10

// encode makes the best file that is small enough, or fails with ErrBytes.
func (p *Processor) encode(pixels image.Image, contentType string, quality int) (File, error) {
	file, err := encodeWithin(pixels, contentType, quality, p.maxBytes)
	if err == nil && len(file.Content) > p.maxBytes {
		err = ErrBytes
	}
	return file, err
}

// encodeWithin makes the best file of at most limit bytes, or the smallest one if none is so small. Only a JPEG has qualities, of
// which best is tried first.
func encodeWithin(pixels image.Image, contentType string, best, limit int) (file File, err error) {
	const step, worst = 10, 35
	for quality := best; quality >= worst; quality -= step {
		file, err = encode(pixels, contentType, quality)
		if err != nil || len(file.Content) <= limit || contentType == PNG {
			break
		}
	}
	return file, err
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
