package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Sizes of a flame graph in pixels. A box that would be narrower than narrowest is left out.
const (
	flameWidth  = 1600
	flameHeight = 18
	narrowest   = 0.5
	letter      = 6.5
)

// flame is a function in the stacks of a profile, below the functions that called it.
type flame struct {
	value   int64
	callees map[string]*flame
}

// Flames draws a flame graph: each box is a function, below its caller and as wide as its share of the profile's last value, which is
// the processor time. Functions of this platform are green, those of the runtime red, and all others blue.
func Flames(title string, p *profile.Profile) string {
	root := &flame{}
	for _, sample := range p.Sample {
		root.add(sample)
	}
	var boxes strings.Builder
	lowest := 0
	root.draw(&boxes, "all", 0, 0, float64(flameWidth)/float64(max(root.value, 1)), &lowest)
	var svg strings.Builder
	begin(&svg, title, flameWidth, header+(lowest+1)*flameHeight)
	svg.WriteString(boxes.String() + "</svg>\n")
	return svg.String()
}

// add adds a stack, whose first location is where it was when the sample was taken. The last line of a location is the function, the
// others are inlined into it.
func (f *flame) add(sample *profile.Sample) {
	value := sample.Value[len(sample.Value)-1]
	f.value += value
	at := f
	for _, location := range slices.Backward(sample.Location) {
		for _, line := range slices.Backward(location.Line) {
			if at.callees == nil {
				at.callees = map[string]*flame{}
			}
			callee := at.callees[line.Function.Name]
			if callee == nil {
				callee = &flame{}
				at.callees[line.Function.Name] = callee
			}
			callee.value += value
			at = callee
		}
	}
}

// draw draws the function at the place with all that it called. scale is the width of one.
func (f *flame) draw(svg *strings.Builder, name string, left float64, depth int, scale float64, lowest *int) {
	width := float64(f.value) * scale
	if width < narrowest {
		return
	}
	*lowest = max(*lowest, depth)
	top := header + depth*flameHeight
	fmt.Fprintf(svg, `<g><title>%s %.1f%%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="#fff"/>`,
		escape(name), width/flameWidth*100, left, top, width, flameHeight, flameColor(name))
	if fits := int(width / letter); fits > 3 {
		short := name[strings.LastIndex(name, "/")+1:]
		fmt.Fprintf(svg, `<text x="%.1f" y="%d" fill="#fff">%s</text>`, left+3, top+13, escape(short[:min(len(short), fits)]))
	}
	svg.WriteString("</g>\n")
	for _, callee := range slices.Sorted(maps.Keys(f.callees)) {
		below := f.callees[callee]
		below.draw(svg, callee, left, depth+1, scale, lowest)
		left += float64(below.value) * scale
	}
}

func flameColor(name string) string {
	switch {
	case strings.Contains(name, "partnergifting/"):
		return good
	case strings.HasPrefix(name, "runtime."):
		return bad
	default:
		return plain
	}
}
