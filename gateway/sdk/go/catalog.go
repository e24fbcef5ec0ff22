package gifting

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// ListCampaignsQuery filters campaigns.
type ListCampaignsQuery struct {
	Paging

	BrandID string
	Status  CampaignStatus
}

func (q ListCampaignsQuery) values() url.Values {
	return q.filters("brandId", q.BrandID, "status", string(q.Status))
}

// Campaigns are those of the tenant.
type Campaigns struct{ client *Client }

// List is all campaigns, newest first.
func (c Campaigns) List(ctx context.Context, query ListCampaignsQuery, options ...CallOption) List[CampaignSummary] {
	return list[CampaignSummary](ctx, c.client, "/campaigns", query.values(), options)
}

// GetCampaignQuery says how to read a campaign.
type GetCampaignQuery struct {
	// Locale of names and descriptions, one of the tenant's. Empty means en-US.
	Locale string
}

// Get reads a campaign with its offerings.
func (c Campaigns) Get(ctx context.Context, campaignID string, query GetCampaignQuery, options ...CallOption) (*Campaign, error) {
	values := Paging{}.filters("locale", query.Locale)
	return get[Campaign](ctx, c.client, routeTo("/campaigns/{campaignId}", campaignID), values, options)
}

// Catalog is the gifts that the tenant offers.
type Catalog struct{ client *Client }

// ListProductsQuery filters the catalog.
type ListProductsQuery struct {
	Paging

	// Country of delivery, required. Availability and estimates depend on it.
	Country string
	// Locale of names and descriptions, one of the tenant's. Empty means en-US.
	Locale string
	// UpdatedSince asks for what has changed, with the gifts that have left the catalog. See [Catalog.Sync].
	UpdatedSince time.Time
}

func (q ListProductsQuery) values() url.Values {
	return q.filters("country", q.Country, "locale", q.Locale, "updatedSince", instant(q.UpdatedSince))
}

// ProductEntry is a gift, or a gift that has left the catalog: one of the two is set.
type ProductEntry struct {
	Product  *Product
	Unlisted *UnlistedProduct
}

// ID of the gift.
func (e ProductEntry) ID() string {
	if e.Product != nil {
		return e.Product.ID
	}
	return e.Unlisted.ID
}

// UpdatedAt is the time of its last change.
func (e ProductEntry) UpdatedAt() time.Time {
	if e.Product != nil {
		return e.Product.UpdatedAt
	}
	return e.Unlisted.UpdatedAt
}

// UnmarshalJSON implements json.Unmarshaler. The member listed says which of the two it is.
func (e *ProductEntry) UnmarshalJSON(raw []byte) error {
	var kind struct {
		Listed bool `json:"listed"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	*e = ProductEntry{}
	if kind.Listed {
		e.Product = &Product{}
		return json.Unmarshal(raw, e.Product)
	}
	e.Unlisted = &UnlistedProduct{} // Never neither of the two, even for null.
	return json.Unmarshal(raw, e.Unlisted)
}

// MarshalJSON implements json.Marshaler.
func (e ProductEntry) MarshalJSON() ([]byte, error) {
	if e.Product != nil {
		return json.Marshal(e.Product)
	}
	return json.Marshal(e.Unlisted)
}

// Products is the catalog of a country.
func (c Catalog) Products(ctx context.Context, query ListProductsQuery, options ...CallOption) List[ProductEntry] {
	return list[ProductEntry](ctx, c.client, "/catalog/products", query.values(), options)
}

// GetProductQuery says for whom to read a gift.
type GetProductQuery struct {
	// Country of delivery, required.
	Country string
	// Locale of name and description, one of the tenant's. Empty means en-US.
	Locale string
}

// Product reads one gift.
func (c Catalog) Product(ctx context.Context, productID string, query GetProductQuery, options ...CallOption) (*Product, error) {
	values := Paging{}.filters("country", query.Country, "locale", query.Locale)
	return get[Product](ctx, c.client, routeTo("/catalog/products/{productId}", productID), values, options)
}

// ListCategoriesQuery says how to read the categories.
type ListCategoriesQuery struct {
	// Locale of names, one of the tenant's. Empty means en-US.
	Locale string
}

// Categories reads the categories of gifts, in display order.
func (c Catalog) Categories(ctx context.Context, query ListCategoriesQuery, options ...CallOption) ([]Category, error) {
	return items(get[[]Category](ctx, c.client, routeTo("/catalog/categories"), Paging{}.filters("locale", query.Locale), options))
}

// ImageFile is the content of an image.
type ImageFile struct {
	ContentType string
	Content     []byte
}

// Image reads an image by the last part of its URL. No key is sent: image URLs open without one, so a browser can show them
// directly.
func (c Catalog) Image(ctx context.Context, fileID string, options ...CallOption) (*ImageFile, error) {
	made := &call{
		method: http.MethodGet, route: routeTo("/catalog/images/{fileId}", fileID), accepts: []string{ifNoneMatch}, image: true,
	}
	return send[ImageFile](ctx, c.client, made, options)
}

// overlap is how much of the time before is read again, for changes that became visible late.
const overlap = 5 * time.Minute

// CatalogSync is what a copy of the catalog is a copy of. The API makes both a part of each gift, so a copy for another country or
// locale is another copy.
type CatalogSync struct {
	// Country of delivery, required.
	Country string
	// Locale of names and descriptions. Empty means en-US.
	Locale string
	// Newest is what the sync before returned; the zero time loads the whole catalog.
	Newest time.Time
}

// Sync brings a copy of the catalog up to date. It calls apply with each page, in which a gift is to be replaced, and one that
// is Unlisted to be removed. Show a gift only while it is Available. Store the time that it returns with the copy, and pass it as
// Newest the next time, after some minutes or hours. If it fails, sync again with the same Newest: entries that come twice are
// harmless. Estimates follow the exchange rates of the day without a change of UpdatedAt: load the whole catalog now and then.
func (c Catalog) Sync(
	ctx context.Context, sync CatalogSync, apply func(context.Context, []ProductEntry) error,
) (newest time.Time, err error) {
	query := ListProductsQuery{Country: sync.Country, Locale: sync.Locale, Paging: Paging{Limit: 100}}
	if !sync.Newest.IsZero() {
		query.UpdatedSince = sync.Newest.Add(-overlap)
	}
	newest = sync.Newest
	var response Response
	var firstResponse time.Time
	for page, err := range c.Products(ctx, query, WithResponse(&response)).Pages() {
		if err != nil {
			return sync.Newest, err
		}
		if firstResponse.IsZero() {
			firstResponse, _ = http.ParseTime(response.Header.Get("Date"))
		}
		for _, entry := range page.Items {
			if entry.UpdatedAt().After(newest) {
				newest = entry.UpdatedAt()
			}
		}
		if err := apply(ctx, page.Items); err != nil {
			return sync.Newest, err
		}
	}
	return noLaterThan(newest, firstResponse), nil
}

// noLaterThan keeps the next sync from skipping a gift that changed on a page already read, while a long sync went on: later pages
// may have newer changes.
func noLaterThan(newest, firstResponse time.Time) time.Time {
	if !firstResponse.IsZero() && newest.After(firstResponse) {
		return firstResponse
	}
	return newest
}
