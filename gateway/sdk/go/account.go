package gifting

import "context"

// Account is what the key is.
type Account struct{ client *Client }

// Me reads the key in use, its tenant's settings and its environment.
func (a Account) Me(ctx context.Context, options ...CallOption) (*Me, error) {
	return get[Me](ctx, a.client, at("/me"), nil, options)
}

// Brands are those of the tenant.
type Brands struct{ client *Client }

// List reads the brands that the key reaches.
func (b Brands) List(ctx context.Context, options ...CallOption) ([]Brand, error) {
	return items(get[[]Brand](ctx, b.client, at("/brands"), nil, options))
}
