package picture

import "math"

// shape gives the distance of a place to a border: negative is inside.
type shape func(x, y float64) float64

// figure is a body with a trim on it.
type figure struct{ body, trim shape }

var ball = figure{
	body: func(x, y float64) float64 { return circle(x, y-0.15, 0.5) },
	trim: func(x, y float64) float64 {
		return max(circle(x, y-0.15, 0.5), math.Abs(circle(x-0.45, y+0.1, 0.55))-0.035)
	},
}

// figures are what a category of gifts is drawn as.
var figures = map[string]figure{
	"ball": ball,
	"box": {
		body: func(x, y float64) float64 {
			return min(box(x, y-0.3, 0.45, 0.38, 0.04), box(x, y+0.12, 0.52, 0.11, 0.04))
		},
		trim: func(x, y float64) float64 {
			bow := min(math.Abs(ellipse(x-0.17, y+0.34, 0.17, 0.1))-0.03, math.Abs(ellipse(x+0.17, y+0.34, 0.17, 0.1))-0.03)
			return min(box(x, y-0.22, 0.07, 0.46, 0), bow)
		},
	},
	"bottle": {
		body: func(x, y float64) float64 {
			return min(box(x, y-0.25, 0.2, 0.43, 0.08), box(x, y+0.38, 0.075, 0.3, 0.02), ellipse(x, y+0.12, 0.17, 0.16))
		},
		trim: func(x, y float64) float64 { return min(box(x, y-0.28, 0.2, 0.17, 0), box(x, y+0.62, 0.08, 0.07, 0.01)) },
	},
	"device": {
		body: func(x, y float64) float64 { return box(x, y-0.12, 0.4, 0.56, 0.1) },
		trim: func(x, y float64) float64 {
			return min(circle(x, y-0.3, 0.2), circle(x, y+0.2, 0.1), box(x, y-0.6, 0.1, 0.012, 0.01))
		},
	},
	"cup": {
		body: func(x, y float64) float64 {
			handle := math.Abs(circle(x-0.42, y-0.22, 0.19)) - 0.055
			return min(box(x+0.05, y-0.25, 0.4, 0.4, 0.12), handle)
		},
		trim: func(x, y float64) float64 {
			return min(box(x+0.05, y-0.05, 0.4, 0.05, 0), box(x+0.05, y-0.3, 0.4, 0.02, 0))
		},
	},
	"shirt": {
		body: func(x, y float64) float64 {
			x = math.Abs(x)
			return max(min(box(x, y-0.2, 0.36, 0.5, 0.05), sleeve(x-0.46, y+0.1)), -circle(x, y+0.36, 0.14))
		},
		trim: func(x, y float64) float64 { return min(circle(x-0.17, y-0.02, 0.06), box(x, y-0.62, 0.36, 0.03, 0)) },
	},
}

func circle(x, y, r float64) float64 { return length(x, y) - r }

// length does without the care for extremes that math.Hypot takes time for.
func length(x, y float64) float64 { return math.Sqrt(x*x + y*y) }

// ellipse is exact at the border and near enough around it.
func ellipse(x, y, a, b float64) float64 {
	return (length(x/a, y/b) - 1) * min(a, b)
}

// box has half width w, half height h and rounded corners.
func box(x, y, w, h, round float64) float64 {
	dx, dy := math.Abs(x)-w+round, math.Abs(y)-h+round
	return length(max(dx, 0), max(dy, 0)) + min(0, max(dx, dy)) - round
}

// The sleeves of the shirt hang at an angle.
var (
	sleeveSin = math.Sin(-0.6)
	sleeveCos = math.Cos(-0.6)
)

func sleeve(x, y float64) float64 {
	return box(x*sleeveCos+y*sleeveSin, y*sleeveCos-x*sleeveSin, 0.15, 0.24, 0.04)
}
