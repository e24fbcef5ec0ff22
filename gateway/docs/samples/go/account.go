// Package samples calls each operation of the API with the Go SDK. The documentation shows the lines between the comments, and a
// test runs them.
package samples

import (
	"context"
	"fmt"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// GetMe shows getMe.
func GetMe(ctx context.Context, client *gifting.Client) error {
	// sample: getMe
	me, err := client.Account.Me(ctx)
	if err != nil {
		return err
	}
	fmt.Println(me.Tenant.Name, me.Key.Scopes, me.Environment)
	// end
	return nil
}

// ListBrands shows listBrands.
func ListBrands(ctx context.Context, client *gifting.Client) error {
	// sample: listBrands
	brands, err := client.Brands.List(ctx)
	if err != nil {
		return err
	}
	for _, brand := range brands {
		fmt.Println(brand.ID, brand.Name)
	}
	// end
	return nil
}
