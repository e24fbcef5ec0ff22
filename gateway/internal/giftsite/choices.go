package giftsite

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// group is a set of options. The player chooses one of them.
type group struct {
	*texts

	ID      string
	Legend  string
	Name    string
	Options []option
	Error   string
	// Narrowed means that a script may disable any of the options.
	Narrowed bool
}

type option struct {
	ID       string
	Value    string
	Label    string
	Checked  bool
	Disabled bool
	// values are the selected values by dimension.
	values map[string]string
}

// choices are what a player chooses of a gift: a value of each dimension.
type choices struct {
	Groups []group
	// Left are the combinations that can be chosen, as indexes of their values: "0,2 1,0". A script allows only these. Empty: all.
	Left string
	// Whole lists whole combinations for browsers without scripts: there, a page cannot disable a value in one group because of the
	// choice in another. Nil: the groups are enough, or the list would be too long.
	Whole *group
}

// maxOptions bounds the list of whole combinations. Without it a combination that is out of stock is only reported when the form is
// sent.
const maxOptions = 200

func choicesOf(t *texts, gift *linksv1.ClaimGift, picked map[string]string) (c choices) {
	free, all, independent := freeValues(gift)
	for i, d := range gift.GetVariations() {
		c.Groups = append(c.Groups, dimensionGroup(t, i, d, free[i]))
		c.Groups[i].Narrowed = !independent
		c.Groups[i].preselect(picked)
	}
	if independent {
		return c
	}
	c.Left = combinationsLeft(gift)
	if all <= maxOptions {
		whole := combinationGroup(t, gift)
		whole.preselect(picked)
		c.Whole = &whole
	}
	return c
}

// checked are the values of the checked options.
func (c choices) checked() map[string]string {
	checked := map[string]string{}
	for _, g := range c.Groups {
		for _, o := range g.Options {
			if o.Checked {
				maps.Copy(checked, o.values)
			}
		}
	}
	return checked
}

// whenPicked are the conditions of the style sheet under which the values are picked: in the groups, and in the list of
// combinations, which counts more: where it is shown, the groups are not. Values that the gift does not have are never picked.
func (c choices) whenPicked(values map[string]string) (conditions []string) {
	inGroups, found := "", 0
	for _, g := range c.Groups {
		for _, o := range g.Options {
			if matches(o.values, values) {
				inGroups += ":has(#" + o.ID + ":checked)"
				found++
			}
		}
	}
	if found == 0 || found < len(values) {
		return nil
	}
	conditions = []string{inGroups}
	if c.Whole != nil {
		var ids []string
		for _, o := range c.Whole.Options {
			if matches(values, o.values) {
				ids = append(ids, "#"+o.ID)
			}
		}
		conditions = append(conditions, ":has(:is("+strings.Join(ids, ",")+"):checked)")
	}
	return conditions
}

// freeValues returns the available values of each dimension, how many combinations there are, and whether any combination of
// available values can be chosen.
func freeValues(gift *linksv1.ClaimGift) (free [][]string, all int, independent bool) {
	free = make([][]string, len(gift.GetVariations()))
	product := 1
	all = 1
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
	return free, all, len(gift.GetChoices()) == 0 || len(gift.GetChoices()) == product
}

// combinationsLeft is the text of choices.Left.
func combinationsLeft(gift *linksv1.ClaimGift) string {
	var combinations []string
	for _, c := range gift.GetChoices() {
		var indexes []string
		for _, d := range gift.GetVariations() {
			indexes = append(indexes, strconv.Itoa(slices.Index(d.GetValues(), c.GetVariations()[d.GetDimension()])))
		}
		combinations = append(combinations, strings.Join(indexes, ","))
	}
	return strings.Join(combinations, " ")
}

func dimensionGroup(t *texts, i int, d *linksv1.ClaimVariation, free []string) group {
	g := group{texts: t, ID: fmt.Sprintf("choice-%d", i), Legend: t.dimension(d), Name: variationPrefix + d.GetDimension()}
	for _, value := range d.GetValues() {
		g.addOption(option{
			Value: value, Label: valueName(d, value), Disabled: !slices.Contains(free, value),
			values: map[string]string{d.GetDimension(): value},
		})
	}
	return g
}

// valueName is how the page shows a value of a dimension. What is posted is the value itself.
func valueName(d *linksv1.ClaimVariation, value string) string {
	if i := slices.Index(d.GetValues(), value); i >= 0 && i < len(d.GetValueNames()) {
		return d.GetValueNames()[i]
	}
	return value
}

func combinationGroup(t *texts, gift *linksv1.ClaimGift) group {
	var legend []string
	combinations := []map[string]string{{}}
	for _, d := range gift.GetVariations() {
		legend = append(legend, t.dimension(d))
		combinations = withValuesOf(combinations, d)
	}
	g := group{texts: t, ID: "whole", Legend: strings.Join(legend, ", "), Name: fieldChoice}
	for _, c := range combinations {
		var label []string
		encoded := url.Values{}
		for _, d := range gift.GetVariations() {
			label = append(label, valueName(d, c[d.GetDimension()]))
			encoded.Set(d.GetDimension(), c[d.GetDimension()])
		}
		g.addOption(option{
			Value: encoded.Encode(), Label: strings.Join(label, ", "), Disabled: !available(gift, c), values: c,
		})
	}
	return g
}

func withValuesOf(combinations []map[string]string, d *linksv1.ClaimVariation) []map[string]string {
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

func (g *group) addOption(o option) {
	o.ID = fmt.Sprintf("%s-%d", g.ID, len(g.Options))
	g.Options = append(g.Options, o)
}

// preselect checks the option that was picked, or the only available one.
func (g *group) preselect(picked map[string]string) {
	open := 0
	for i := range g.Options {
		o := &g.Options[i]
		o.Checked = !o.Disabled && matches(o.values, picked)
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

// isChosen reports whether an option is checked.
func (g *group) isChosen() bool {
	return slices.ContainsFunc(g.Options, func(o option) bool { return o.Checked })
}

// isGone reports whether the picked option is no longer available.
func (g *group) isGone(picked map[string]string) bool {
	return slices.ContainsFunc(g.Options, func(o option) bool { return o.Disabled && matches(o.values, picked) })
}

// firstID is the target of a link to the group.
func (g *group) firstID() string {
	for _, o := range g.Options {
		if !o.Disabled {
			return o.ID
		}
	}
	return g.ID
}

// formError is the error of the group in the list of errors.
func (g *group) formError() formError {
	return formError{Field: fieldChoices, Label: g.Legend, Text: g.Error, Href: "#" + g.firstID()}
}
