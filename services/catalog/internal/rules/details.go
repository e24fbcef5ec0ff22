package rules

import (
	"cmp"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Details are what only the gift site says about a gift, in one locale.
type Details struct {
	Maker    string `json:"maker,omitempty"`
	Material string `json:"material,omitempty"`
	Size     string `json:"size,omitempty"`
	Story    string `json:"story,omitempty"`
}

var (
	maxMaker    = fields.MaxLength(&catalogv1.GiftDetails{}, "maker")
	maxMaterial = fields.MaxLength(&catalogv1.GiftDetails{}, "material")
	maxSize     = fields.MaxLength(&catalogv1.GiftDetails{}, "size")
	maxStory    = fields.MaxLength(&catalogv1.GiftDetails{}, "story")
)

// ReadDetails validates the details of translations and returns them by locale.
func ReadDetails(list []*catalogv1.ProductTranslation, errs *fields.Errors) map[string]Details {
	all := map[string]Details{}
	for i, t := range list {
		if d := readDetails(at("translations", i, "details"), t.GetDetails(), errs); d != (Details{}) {
			all[t.GetLocale()] = d
		}
	}
	return all
}

func readDetails(path string, d *catalogv1.GiftDetails, errs *fields.Errors) Details {
	errs.Line(path+".maker", d.GetMaker(), maxMaker)
	errs.Line(path+".material", d.GetMaterial(), maxMaterial)
	errs.Line(path+".size", d.GetSize(), maxSize)
	errs.Text(path+".story", d.GetStory(), maxStory)
	return Details{
		Maker: fields.UnlessBlank(d.GetMaker()), Material: fields.UnlessBlank(d.GetMaterial()),
		Size: fields.UnlessBlank(d.GetSize()), Story: fields.UnlessBlank(d.GetStory()),
	}
}

// DetailsIn returns the details for readers of the first locale. Each text is that of the first locale that has it.
func DetailsIn(all map[string]Details, locales []string) (out Details) {
	for _, locale := range locales {
		d := all[locale]
		out = Details{
			Maker: cmp.Or(out.Maker, d.Maker), Material: cmp.Or(out.Material, d.Material), Size: cmp.Or(out.Size, d.Size),
			Story: cmp.Or(out.Story, d.Story),
		}
	}
	return out
}
