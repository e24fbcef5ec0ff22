package giftsite

import (
	"fmt"
	"strings"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// picture is the first image of a gift: its largest version, and the renditions from which a browser chooses.
type picture struct {
	Source  string
	Sources string
}

// pictureOf returns the first image: its renditions, which have a width, and its original. It ignores images that the pages
// may not load.
func (s *Site) pictureOf(images []*linksv1.ClaimImage) picture {
	var p picture
	var sources []string
	for _, image := range images {
		original := image.Width == nil
		if original && p.Source != "" {
			break
		}
		if originOf(image.GetUrl()) != s.imageOrigin || strings.ContainsAny(image.GetUrl(), " ,") {
			continue
		}
		if original {
			p.Source = image.GetUrl()
			if len(sources) > 0 {
				break
			}
			continue
		}
		sources = append(sources, fmt.Sprintf("%s %dw", image.GetUrl(), image.GetWidth()))
	}
	p.Sources = strings.Join(sources, ", ")
	if p.Source == "" && len(sources) > 0 {
		p.Source, _, _ = strings.Cut(sources[0], " ")
	}
	return p
}
