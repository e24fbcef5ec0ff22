package picture

import (
	"context"
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// The size of the picture of a link, as messengers show it.
const (
	LinkWidth  = 1200
	LinkHeight = 630
)

// The card of a logo, in pixels: the largest logo, the margin around it, how far its line is inside its edge, and how far the card
// is above the lower edge of the picture.
const (
	logoWidth, logoHeight            = 440, 130
	cardMargin, cardLine, cardBottom = 56, 14, 48
)

// --line of the gift site, on light and on dark pages.
var (
	cardLineColour = color.RGBA{R: 0xE3, G: 0xDF, B: 0xD7, A: 0xFF}
	darkLineColour = color.RGBA{R: 0x37, G: 0x3C, B: 0x44, A: 0xFF}
)

// LinkPicture makes the picture that messengers show of a brand's links: the hero picture with the logo on a card. Without a hero
// picture the background has the colour of the logo. Either may be nil.
func (p *Processor) LinkPicture(ctx context.Context, hero, logo []byte) (File, error) {
	canvas := image.NewRGBA(image.Rect(0, 0, LinkWidth, LinkHeight))
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	// One after the other: a call that holds one image would wait for ever for another one.
	var small image.Image
	if logo != nil {
		err := p.decode(ctx, logo, func(pixels image.Image, _ string) error {
			size := pixels.Bounds().Size()
			small = scale(pixels, max(1, min(logoWidth, size.X*logoHeight/size.Y)))
			return nil
		})
		if err != nil {
			return File{}, err
		}
		draw.Draw(canvas, canvas.Bounds(), image.NewUniform(mean(small)), image.Point{}, draw.Src)
	}
	if hero != nil {
		err := p.decode(ctx, hero, func(pixels image.Image, _ string) error {
			draw.CatmullRom.Scale(canvas, canvas.Bounds(), pixels, middle(pixels.Bounds()), draw.Over, nil)
			return nil
		})
		if err != nil {
			return File{}, err
		}
	}
	if small != nil {
		drawCard(canvas, small, hero != nil)
	}
	return encodeWithin(canvas, JPEG, renditionQuality, MaxShown)
}

// middle is the largest part in the middle of an image that has the ratio of the picture of a link.
func middle(of image.Rectangle) image.Rectangle {
	part := image.Pt(of.Dx(), max(1, of.Dx()*LinkHeight/LinkWidth))
	if part.Y > of.Dy() {
		part = image.Pt(max(1, of.Dy()*LinkWidth/LinkHeight), of.Dy())
	}
	corner := of.Min.Add(of.Size().Sub(part).Div(2))
	return image.Rectangle{Min: corner, Max: corner.Add(part)}
}

// mean is the average colour of the visible pixels.
func mean(pixels image.Image) color.Color {
	seen, _ := color.NRGBAModel.Convert(scale(pixels, 1).At(0, 0)).(color.NRGBA)
	seen.A = 0xFF
	return seen
}

// drawCard draws a logo on a card: above the lower edge of a hero picture, or in the middle. The card is white, and dark under a
// logo that is seen on dark only.
func drawCard(canvas draw.Image, logo image.Image, onHero bool) {
	background, line := color.Color(color.White), cardLineColour
	if !seenOn(background, logo) {
		background, line = darkBackground, darkLineColour
	}
	seen := visible(logo)
	card := image.Rectangle{Max: seen.Size()}.Inset(-cardMargin)
	corner := canvas.Bounds().Size().Sub(card.Size()).Div(2)
	if onHero {
		corner.Y = LinkHeight - cardBottom - card.Dy()
	}
	card = card.Sub(card.Min).Add(corner)
	for _, layer := range []struct {
		inset  int
		colour color.Color
	}{{0, background}, {cardLine, line}, {cardLine + 1, background}} {
		draw.Draw(canvas, card.Inset(layer.inset), image.NewUniform(layer.colour), image.Point{}, draw.Src)
	}
	draw.Draw(canvas, card.Inset(cardMargin), logo, seen.Min, draw.Over)
}

// visible is the part of an image without transparent margins.
func visible(pixels image.Image) (part image.Rectangle) {
	all := pixels.Bounds()
	for y := all.Min.Y; y < all.Max.Y; y++ {
		for x := all.Min.X; x < all.Max.X; x++ {
			if _, _, _, alpha := pixels.At(x, y).RGBA(); alpha > 0 {
				part = part.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return part
}
