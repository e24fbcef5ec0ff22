package gifting

import "context"

// GetMe reads the key in use, its tenant's settings and its environment.
func (c *Client) GetMe(ctx context.Context, options ...CallOption) (*Me, error) {
	return get[Me](ctx, c, "/me", nil, options)
}

// ListBrands reads the brands that the key reaches.
func (c *Client) ListBrands(ctx context.Context, options ...CallOption) ([]Brand, error) {
	return list[Brand](ctx, c, "/brands", nil, options)
}
