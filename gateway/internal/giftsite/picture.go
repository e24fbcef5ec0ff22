package giftsite

import (
	"fmt"
	"strings"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// picture is a gift's first image. Source is the largest there is; Sources are its renditions, of
// which a browser takes the one that fits.
type picture struct {
	Source  string
	Sources string
}

// pictureOf finds the first image: its renditions, which have a width, and its original. It takes
// only what comes from where the pages may load a picture.
func (s *Site) pictureOf(images []*linksv1.ClaimImage) picture {
	var p picture
	var sources []string
	for _, image := range images {
		original := image.Width == nil
		if original && p.Source != "" {
			break
		}
		if originOf(image.GetUrl()) != s.pictures || strings.ContainsAny(image.GetUrl(), " ,") {
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
