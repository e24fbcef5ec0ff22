package gifting

import (
	"context"
	"encoding/json"
	"iter"
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

// ListCampaigns reads a page of campaigns, newest first.
func (c *Client) ListCampaigns(ctx context.Context, query ListCampaignsQuery, options ...CallOption) (*Page[CampaignSummary], error) {
	return get[Page[CampaignSummary]](ctx, c, "/campaigns", query.values(), options)
}

// Campaigns reads all campaigns from a page on.
func (c *Client) Campaigns(ctx context.Context, query ListCampaignsQuery, options ...CallOption) iter.Seq2[CampaignSummary, error] {
	return all[CampaignSummary](ctx, c, "/campaigns", query.values(), options)
}

// GetCampaign reads a campaign with its offerings. An empty locale means en-US.
func (c *Client) GetCampaign(ctx context.Context, campaignID, locale string, options ...CallOption) (*Campaign, error) {
	return get[Campaign](ctx, c, at("/campaigns/{}", campaignID), Paging{}.filters("locale", locale), options)
}

// ListProductsQuery filters the catalog.
type ListProductsQuery struct {
	Paging

	// Country of delivery, required. Availability and estimates depend on it.
	Country string
	// Locale of names and descriptions, one of the tenant's. Empty means en-US.
	Locale string
	// UpdatedSince asks for what has changed, with the gifts that have left the catalog. See [Client.SyncCatalog].
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

// ListProducts reads a page of the catalog.
func (c *Client) ListProducts(ctx context.Context, query ListProductsQuery, options ...CallOption) (*Page[ProductEntry], error) {
	return get[Page[ProductEntry]](ctx, c, "/catalog/products", query.values(), options)
}

// Products reads the catalog from a page on.
func (c *Client) Products(ctx context.Context, query ListProductsQuery, options ...CallOption) iter.Seq2[ProductEntry, error] {
	return all[ProductEntry](ctx, c, "/catalog/products", query.values(), options)
}

// GetProduct reads one gift. An empty locale means en-US.
func (c *Client) GetProduct(ctx context.Context, productID, country, locale string, options ...CallOption) (*Product, error) {
	query := Paging{}.filters("country", country, "locale", locale)
	return get[Product](ctx, c, at("/catalog/products/{}", productID), query, options)
}

// ListCategories reads the categories of gifts. An empty locale means en-US.
func (c *Client) ListCategories(ctx context.Context, locale string, options ...CallOption) ([]Category, error) {
	return list[Category](ctx, c, "/catalog/categories", Paging{}.filters("locale", locale), options)
}

// ImageFile is the content of an image.
type ImageFile struct {
	ContentType string
	Content     []byte
}

// GetImage reads an image by the last part of its URL. Image URLs open without a key, so a browser can show them directly.
func (c *Client) GetImage(ctx context.Context, fileID string, options ...CallOption) (*ImageFile, error) {
	options = append([]CallOption{WithHeader("Accept", "image/*")}, options...)
	made := &call{method: http.MethodGet, path: at("/catalog/images/{}", fileID), header: http.Header{}}
	image := &ImageFile{}
	if err := c.do(ctx, made, image, options); err != nil {
		return nil, err
	}
	return image, nil
}
