package picture

import (
	"image/color"
	"math"
)

// tone is a colour with parts of 0…1.
type tone struct{ r, g, b float64 }

func hsl(hue, saturation, lightness float64) tone {
	part := func(offset float64) float64 {
		k := math.Mod(offset+hue/30, 12)
		a := saturation * min(lightness, 1-lightness)
		return lightness - a*max(-1, min(k-3, 9-k, 1))
	}
	return tone{part(0), part(8), part(4)}
}

func mix(a, b tone, share float64) tone {
	return tone{a.r + (b.r-a.r)*share, a.g + (b.g-a.g)*share, a.b + (b.b-a.b)*share}
}

func (t tone) darker() tone { return mix(t, tone{}, 0.4) }

func (t tone) lighter() tone { return mix(t, tone{1, 1, 1}, 0.3) }

func (t tone) rgba() color.NRGBA {
	const full = 255
	level := func(v float64) uint8 { return uint8(full*min(1, max(0, v)) + 0.5) }
	return color.NRGBA{R: level(t.r), G: level(t.g), B: level(t.b), A: full}
}
