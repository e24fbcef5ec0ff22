package samples

import (
	"context"
	"fmt"
	"path"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// ListCampaigns shows listCampaigns.
func ListCampaigns(ctx context.Context, client *gifting.Client) error {
	// sample: listCampaigns
	active := gifting.ListCampaignsQuery{Status: gifting.CampaignStatusACTIVE}
	for campaign, err := range client.Campaigns.List(ctx, active).All() {
		if err != nil {
			return err
		}
		fmt.Println(campaign.ID, campaign.Name)
	}
	// end
	return nil
}

// GetCampaign shows getCampaign.
func GetCampaign(ctx context.Context, client *gifting.Client, campaignID string) error {
	// sample: getCampaign
	campaign, err := client.Campaigns.Get(ctx, campaignID, gifting.GetCampaignQuery{Locale: "sv-SE"})
	if err != nil {
		return err
	}
	for _, offering := range campaign.Offerings {
		fmt.Println(offering.Name, offering.Status, len(offering.Skus))
	}
	// end
	return nil
}

// ListProducts shows listProducts.
func ListProducts(ctx context.Context, client *gifting.Client) error {
	// sample: listProducts
	// Loads the catalog of a country. Later calls, with Newest set to the time that this one returned, read only changes.
	gifts := map[string]*gifting.Product{}
	newest, err := client.Catalog.Sync(ctx, gifting.CatalogSync{Country: "SE", Locale: "sv-SE"},
		func(_ context.Context, entries []gifting.ProductEntry) error {
			for _, entry := range entries {
				if entry.Product != nil {
					gifts[entry.ID()] = entry.Product
				} else {
					delete(gifts, entry.ID())
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	fmt.Println(len(gifts), "gifts; next time from", newest)
	// end
	return nil
}

// GetProduct shows getProduct.
func GetProduct(ctx context.Context, client *gifting.Client, productID string) error {
	// sample: getProduct
	product, err := client.Catalog.Product(ctx, productID, gifting.GetProductQuery{Country: "SE"})
	if err != nil {
		return err
	}
	fmt.Println(product.Name, product.Available, product.Variations)
	// end
	return nil
}

// ListCategories shows listCategories.
func ListCategories(ctx context.Context, client *gifting.Client) error {
	// sample: listCategories
	categories, err := client.Catalog.Categories(ctx, gifting.ListCategoriesQuery{Locale: "sv-SE"})
	if err != nil {
		return err
	}
	for _, category := range categories {
		fmt.Println(category.Name, len(category.Subcategories))
	}
	// end
	return nil
}

// GetImage shows getImage.
func GetImage(ctx context.Context, client *gifting.Client, product *gifting.Product) error {
	// sample: getImage
	image, err := client.Catalog.Image(ctx, path.Base(product.Images[0].URL))
	if err != nil {
		return err
	}
	fmt.Println(image.ContentType, len(image.Content))
	// end
	return nil
}
