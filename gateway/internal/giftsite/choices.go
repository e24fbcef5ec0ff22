package giftsite

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// group is a set of options of which one is to be chosen.
type group struct {
	ID      string
	Legend  string
	Name    string
	Options []option
	Error   string
}

type option struct {
	ID       string
	Value    string
	Label    string
	Checked  bool
	Disabled bool
	// picked is what the option stands for, by dimension.
	picked map[string]string
}

// maxOptions bounds one list of combinations. A gift with more of them is chosen by its single
// dimensions, and a combination that is gone is found out when it is sent.
const maxOptions = 200

// groupsOf gives the choices of a gift: one group for each dimension where these can be chosen
// independently, else one group of all combinations, because pages without scripts could not
// otherwise keep a player from choosing a combination that is gone.
func groupsOf(t *texts, gift *linksv1.ClaimGift, picked map[string]string) []group {
	dimensions := gift.GetVariations()
	if len(dimensions) == 0 {
		return nil
	}
	var groups []group
	if free, ok := independent(gift); ok {
		for i, d := range dimensions {
			groups = append(groups, dimensionGroup(t, i, d, free[i]))
		}
	} else {
		groups = []group{combinationGroup(t, gift)}
	}
	for i := range groups {
		groups[i].check(picked)
	}
	return groups
}

// independent gives the values of each dimension that can be chosen, if every combination of
// these can be chosen.
func independent(gift *linksv1.ClaimGift) ([][]string, bool) {
	free := make([][]string, len(gift.GetVariations()))
	product, all := 1, 1
	for i, d := range gift.GetVariations() {
		for _, value := range d.GetValues() {
			if gift.GetOutOfStock() {
				break
			}
			if len(gift.GetChoices()) == 0 || slices.ContainsFunc(gift.GetChoices(), func(c *linksv1.ClaimChoice) bool {
				return c.GetVariations()[d.GetDimension()] == value
			}) {
				free[i] = append(free[i], value)
			}
		}
		product = min(product*len(free[i]), math.MaxInt32)
		all = min(all*len(d.GetValues()), maxOptions+1)
	}
	return free, len(gift.GetChoices()) == 0 || len(gift.GetChoices()) == product || all > maxOptions
}

func dimensionGroup(t *texts, i int, d *linksv1.ClaimVariation, free []string) group {
	g := group{ID: fmt.Sprintf("choice-%d", i), Legend: t.dimension(d.GetDimension()), Name: variationPrefix + d.GetDimension()}
	for _, value := range d.GetValues() {
		g.add(option{
			Value: value, Label: value, Disabled: !slices.Contains(free, value),
			picked: map[string]string{d.GetDimension(): value},
		})
	}
	return g
}

func combinationGroup(t *texts, gift *linksv1.ClaimGift) group {
	var dimensions, legend []string
	combinations := []map[string]string{{}}
	for _, d := range gift.GetVariations() {
		dimensions, legend = append(dimensions, d.GetDimension()), append(legend, t.dimension(d.GetDimension()))
		combinations = extended(combinations, d)
	}
	g := group{ID: "choice-0", Legend: strings.Join(legend, ", "), Name: fieldChoice}
	for _, c := range combinations {
		var label []string
		encoded := url.Values{}
		for _, dimension := range dimensions {
			label = append(label, c[dimension])
			encoded.Set(dimension, c[dimension])
		}
		g.add(option{
			Value: encoded.Encode(), Label: strings.Join(label, ", "), Disabled: !available(gift, c), picked: c,
		})
	}
	return g
}

func extended(combinations []map[string]string, d *linksv1.ClaimVariation) []map[string]string {
	var out []map[string]string
	for _, c := range combinations {
		for _, value := range d.GetValues() {
			next := map[string]string{d.GetDimension(): value}
			for dimension, chosen := range c {
				next[dimension] = chosen
			}
			out = append(out, next)
		}
	}
	return out
}

func available(gift *linksv1.ClaimGift, combination map[string]string) bool {
	return slices.ContainsFunc(gift.GetChoices(), func(c *linksv1.ClaimChoice) bool {
		return matches(combination, c.GetVariations())
	})
}

func matches(want, have map[string]string) bool {
	for dimension, value := range want {
		if have[dimension] != value {
			return false
		}
	}
	return true
}

func (g *group) add(o option) {
	o.ID = fmt.Sprintf("%s-%d", g.ID, len(g.Options))
	g.Options = append(g.Options, o)
}

// check checks the option that was picked, or the only one that there is.
func (g *group) check(picked map[string]string) {
	open := 0
	for i := range g.Options {
		o := &g.Options[i]
		o.Checked = !o.Disabled && matches(o.picked, picked)
		if !o.Disabled {
			open++
		}
	}
	for i := range g.Options {
		if open == 1 && !g.Options[i].Disabled {
			g.Options[i].Checked = true
		}
	}
}

// chosen says whether an option is checked.
func (g *group) chosen() bool {
	return slices.ContainsFunc(g.Options, func(o option) bool { return o.Checked })
}

// lost says whether the option that was picked cannot be chosen any more.
func (g *group) lost(picked map[string]string) bool {
	return slices.ContainsFunc(g.Options, func(o option) bool { return o.Disabled && matches(o.picked, picked) })
}

// first is the option a link to the group leads to.
func (g *group) first() string {
	for _, o := range g.Options {
		if !o.Disabled {
			return o.ID
		}
	}
	return g.ID
}
