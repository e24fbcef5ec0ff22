// Package rules holds the rules of the catalog as pure functions: which requests are valid, how readers see a gift, price
// estimates, and whether a gift may be ordered.
package rules

import (
	"maps"
	"reflect"
	"slices"
)

// State of a gift.
type State string

// The states of a gift. Only PUBLISHED ones are listed.
const (
	Draft     State = "DRAFT"
	Published State = "PUBLISHED"
	Archived  State = "ARCHIVED"
	Internal  State = "INTERNAL"
)

// Text is the translated part of a gift. Readers of a translation with an empty description get the one in en-US.
type Text struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Variations are how the gift site shows dimensions and values. Only translations have them.
	Variations []VariationText `json:"variations,omitempty"`
}

// Product is a gift with all its fields.
type Product struct {
	ID           string
	State        State
	Text         Text
	Translations map[string]Text
	Variations   []Variation
	// Categories and ImageFileIDs are in display order.
	Categories   []string
	ImageFileIDs []string
	// Countries the gift can be supplied to, in alphabetical order.
	Countries []string
	// Prices by region, in EUR with two decimals.
	Prices                 map[string]string
	CustomizationAvailable bool
	GiftSet                bool
	ReadyToSend            bool
}

// SameForReaders reports whether p and next look the same to readers of every country and locale.
// populated are the regions that have a country: prices of others are not visible.
func (p Product) SameForReaders(next Product, populated map[string]bool) bool {
	if p.State != Published && next.State != Published {
		return true // It is hidden or unlisted before and after; an unlisted entry shows only its id.
	}
	return reflect.DeepEqual(p.shown(populated), next.shown(populated))
}

// shown is the gift with only the fields that readers can see.
func (p Product) shown(populated map[string]bool) Product {
	listed := Product{
		State:                  p.State,
		Text:                   p.Text,
		Translations:           map[string]Text{},
		Prices:                 maps.Clone(p.Prices),
		CustomizationAvailable: p.CustomizationAvailable,
		GiftSet:                p.GiftSet,
		ReadyToSend:            p.ReadyToSend,
		// Appending to nil makes empty and missing lists equal.
		Categories:   append([]string(nil), p.Categories...),
		ImageFileIDs: append([]string(nil), p.ImageFileIDs...),
		Countries:    append([]string(nil), p.Countries...),
		Variations:   append([]Variation(nil), p.Variations...),
	}
	if listed.Prices == nil {
		listed.Prices = map[string]string{}
	}
	maps.DeleteFunc(listed.Prices, func(region, _ string) bool { return !populated[region] })
	for locale, t := range p.Translations {
		if t.Description == "" {
			t.Description = p.Text.Description
		}
		if t.Name != p.Text.Name || t.Description != p.Text.Description {
			t.Variations = nil // Only the gift site shows them.
			listed.Translations[locale] = t
		}
	}
	return listed
}

// Withdraws reports whether replacing p with next removes the gift from the catalog.
func (p Product) Withdraws(next Product) bool {
	return p.State == Published && next.State != Published
}

// SameVariations reports whether both have the same variations.
func (p Product) SameVariations(next Product) bool {
	return slices.EqualFunc(p.Variations, next.Variations, func(a, b Variation) bool {
		return a.Dimension == b.Dimension && slices.Equal(a.Values, b.Values)
	})
}
