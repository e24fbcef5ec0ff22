package seed

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// data holds a file for each category, in display order, the words for variations in other locales, and the pictures.
//
//go:embed data/*.json words.json images
var data embed.FS

// Image returns the picture of the gift with the slug, or one of a brand, such as logo-rheingold. Logos are PNG,
// which stays small without a background; the others are WebP.
func Image(name string) ([]byte, error) {
	if strings.HasPrefix(name, "logo-") {
		return data.ReadFile("images/" + name + ".png")
	}
	return data.ReadFile("images/" + name + ".webp")
}

const baseLocale = "en-US"

// category is a data file. Names and texts are by locale.
type category struct {
	label
	Subcategories []label `json:"subcategories"`
	Gifts         []gift  `json:"gifts"`
}

type label struct {
	Code  string            `json:"code"`
	Names map[string]string `json:"names"`
}

type gift struct {
	Slug       string   `json:"slug"`
	Categories []string `json:"categories"`
	PriceEUR   string   `json:"priceEur"`
	Reach      string   `json:"reach"`
	// UnpricedIn are regions where the gift can be delivered but has no price yet.
	UnpricedIn    []string           `json:"unpricedIn"`
	Variations    []variation        `json:"variations"`
	Customization bool               `json:"customization"`
	GiftSet       bool               `json:"giftSet"`
	ReadyToSend   bool               `json:"readyToSend"`
	Texts         map[string]wording `json:"texts"`
	// Pictures, if the gift has several, with the values that they show. Otherwise its picture has the name of the slug.
	Pictures []giftPicture `json:"pictures"`
}

type giftPicture struct {
	Name  string            `json:"name"`
	Shows map[string]string `json:"shows"`
}

type variation struct {
	Dimension string   `json:"dimension"`
	Values    []string `json:"values"`
}

type wording struct {
	Name        string                 `json:"name"`
	Description string                 `json:"description"`
	Details     *catalogv1.GiftDetails `json:"details"`
}

func dataFiles() ([]string, error) {
	names, err := fs.Glob(data, "data/*.json")
	if err != nil {
		return nil, fmt.Errorf("read demo: %w", err)
	}
	return names, nil
}

// words are how a locale shows dimensions and values of gifts. A value that is not there is shown as it is.
type words struct {
	Dimensions map[string]string `json:"dimensions"`
	Values     map[string]string `json:"values"`
}

var readWords = sync.OnceValues(func() (byLocale map[string]words, err error) {
	content, err := data.ReadFile("words.json")
	if err != nil {
		return nil, fmt.Errorf("read demo: %w", err)
	}
	if err := json.Unmarshal(content, &byLocale); err != nil {
		return nil, fmt.Errorf("read words.json: %w", err)
	}
	return byLocale, nil
})

func (w words) of(v variation) *catalogv1.VariationTranslation {
	out := &catalogv1.VariationTranslation{Dimension: v.Dimension, Name: w.Dimensions[v.Dimension], Values: map[string]string{}}
	for _, value := range v.Values {
		if name, ok := w.Values[value]; ok {
			out.Values[value] = name
		}
	}
	return out
}

// readCategories reads the data files in display order.
func readCategories() ([]category, error) {
	names, err := dataFiles()
	if err != nil {
		return nil, err
	}
	var out []category
	for _, name := range names {
		content, err := data.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read demo: %w", err)
		}
		var c category
		if err := json.Unmarshal(content, &c); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func (s *seeder) putGifts(ctx context.Context) error {
	categories, err := readCategories()
	if err != nil {
		return err
	}
	for i, c := range categories {
		if _, err := s.catalog.PutCategory(ctx, c.request(int32(i))); err != nil {
			return fmt.Errorf("category %s: %w", c.Code, err)
		}
	}
	// Most of the time is spent on the images.
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for _, c := range categories {
		for _, g := range c.Gifts {
			group.Go(func() error {
				if err := s.putGift(ctx, g); err != nil {
					return fmt.Errorf("gift %s: %w", g.Slug, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

func (s *seeder) putGift(ctx context.Context, g gift) error {
	request, err := g.request()
	if err != nil {
		return err
	}
	if request.ImageFileIds, request.ImageVariations, err = s.picturesOf(ctx, g); err != nil {
		return err
	}
	_, err = s.catalog.PutProduct(ctx, request)
	return err
}

// picturesOf returns the ids of a gift's pictures, and what they show.
func (s *seeder) picturesOf(ctx context.Context, g gift) (ids []string, shown []*catalogv1.ImageVariations, err error) {
	if s.sharedPicture != "" {
		return []string{s.sharedPicture}, nil, nil
	}
	pictures := g.Pictures
	if len(pictures) == 0 {
		pictures = []giftPicture{{Name: g.Slug}}
	}
	for _, p := range pictures {
		id, err := s.uploadPicture(ctx, p.Name)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, id)
		if p.Shows != nil {
			shown = append(shown, &catalogv1.ImageVariations{FileId: id, Variations: p.Shows})
		}
	}
	return ids, shown, nil
}

// uploadPicture stores a picture and returns its id.
func (s *seeder) uploadPicture(ctx context.Context, name string) (string, error) {
	image, err := Image(name)
	if err != nil {
		return "", err
	}
	stored, err := s.catalog.UploadImage(ctx, &catalogv1.UploadImageRequest{Content: image})
	if err != nil {
		return "", fmt.Errorf("image: %w", err)
	}
	return stored.GetFileId(), nil
}

func (c category) request(position int32) *catalogv1.PutCategoryRequest {
	req := &catalogv1.PutCategoryRequest{
		Category: &catalogv1.Category{Code: c.Code, Name: c.Names[baseLocale]},
		Position: position,
	}
	req.Translations = c.translations()
	for _, sub := range c.Subcategories {
		req.Category.Subcategories = append(req.Category.Subcategories,
			&catalogv1.Subcategory{Code: sub.Code, Name: sub.Names[baseLocale]})
		req.Translations = append(req.Translations, sub.translations()...)
	}
	return req
}

func (l label) translations() []*catalogv1.CategoryTranslation {
	var out []*catalogv1.CategoryTranslation
	for locale, name := range l.Names {
		if locale != baseLocale {
			out = append(out, &catalogv1.CategoryTranslation{Locale: locale, Code: l.Code, Name: name})
		}
	}
	return out
}

// request is the gift without its pictures.
func (g gift) request() (*catalogv1.PutProductRequest, error) {
	prices, err := g.prices()
	if err != nil {
		return nil, err
	}
	req := &catalogv1.PutProductRequest{
		Id:                     GiftID(g.Slug),
		State:                  catalogv1.ProductState_PRODUCT_STATE_PUBLISHED,
		Name:                   g.Texts[baseLocale].Name,
		Description:            g.Texts[baseLocale].Description,
		Details:                g.Texts[baseLocale].Details,
		Categories:             g.Categories,
		Prices:                 prices,
		CustomizationAvailable: g.Customization,
		GiftSet:                g.GiftSet,
		ReadyToSend:            g.ReadyToSend,
	}
	byLocale, err := readWords()
	if err != nil {
		return nil, err
	}
	for locale, text := range g.Texts {
		if locale == baseLocale {
			continue
		}
		t := &catalogv1.ProductTranslation{Locale: locale, Name: text.Name, Description: text.Description, Details: text.Details}
		for _, v := range g.Variations {
			t.Variations = append(t.Variations, byLocale[locale].of(v))
		}
		req.Translations = append(req.Translations, t)
	}
	for _, v := range g.Variations {
		req.Variations = append(req.Variations, &catalogv1.Variation{Dimension: v.Dimension, Values: v.Values})
	}
	for _, r := range regionsOf(g.Reach) {
		req.AvailableCountries = append(req.AvailableCountries, r.countries...)
	}
	return req, nil
}

func (g gift) prices() ([]*catalogv1.RegionPrice, error) {
	base, err := decimal.NewFromString(g.PriceEUR)
	if err != nil {
		return nil, fmt.Errorf("price: %w", err)
	}
	var out []*catalogv1.RegionPrice
	for _, r := range regionsOf(g.Reach) {
		if !slices.Contains(g.UnpricedIn, r.code) {
			amount := base.Mul(decimal.New(r.permille, -3)).StringFixed(2)
			out = append(out, &catalogv1.RegionPrice{Region: r.code, AmountEur: amount})
		}
	}
	return out, nil
}
