// Package picture draws the images of the demo's gifts: a coloured ground, a soft light and a plain figure. The same
// gift always gets the same picture, so that drawing it again uploads nothing new.
package picture

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
)

// Side is the width and the height of a picture in pixels.
const Side = 320

// PNG draws the picture of the named gift with the figure of its category; an unknown figure is a ball.
func PNG(name, figure string) ([]byte, error) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // A hash never fails to write.
	scene := newScene(hash.Sum64(), figures[figure])
	canvas := image.NewNRGBA(image.Rect(0, 0, Side, Side))
	for y := range Side {
		for x := range Side {
			canvas.SetNRGBA(x, y, scene.at(unit(x), unit(y)))
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, canvas); err != nil {
		return nil, fmt.Errorf("draw %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// unit maps a pixel to -1…1.
func unit(pixel int) float64 { return (float64(pixel)+0.5)/(Side/2) - 1 }

// scene is a picture as a function of the place.
type scene struct {
	top, bottom, shade, light, ink, inkLight, trim tone
	lightX, lightY                                 float64
	figure                                         figure
}

func newScene(seed uint64, f figure) scene {
	const turn = 360
	hue := float64(seed % turn)
	side := float64(seed/turn%100)/100 - 0.5
	if f.body == nil {
		f = ball
	}
	bottom, ink := hsl(hue+35, 0.50, 0.62), hsl(hue+190, 0.42, 0.34)
	return scene{
		top:    hsl(hue, 0.45, 0.82),
		bottom: bottom, shade: bottom.darker(),
		light: hsl(hue+20, 0.60, 0.95),
		ink:   ink, inkLight: ink.lighter(),
		trim:   hsl(hue+40, 0.75, 0.72),
		lightX: side, lightY: -0.35,
		figure: f,
	}
}

func (s scene) at(x, y float64) color.NRGBA {
	ground := mix(s.top, s.bottom, (y+1)/2)
	near := 1 + 1.5*((x-s.lightX)*(x-s.lightX)+(y-s.lightY)*(y-s.lightY))
	glow := 1 / (near * near)
	c := mix(ground, s.light, 0.7*glow)
	c = mix(c, s.shade, 0.45*cover(ellipse(x, y-0.72, 0.55, 0.07), 0.08))
	body := mix(s.ink, s.inkLight, 0.5-0.5*x)
	c = mix(c, body, cover(s.figure.body(x, y), edge))
	return mix(c, s.trim, cover(s.figure.trim(x, y), edge)).rgba()
}

// edge is the width over which a figure fades out, about one pixel.
const edge = 2.0 / Side

// cover says how much of a place a shape covers, from the place's distance to its border: negative is inside.
func cover(distance, softness float64) float64 {
	return min(1, max(0, 0.5-distance/(2*softness)))
}
