package gifting

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// CreatePersonalLinks creates a link for each recipient. Recipients are checked one by one: see Outcome of each result.
func (c *Client) CreatePersonalLinks(
	ctx context.Context, batch CreatePersonalLinksRequest, options ...CallOption,
) (*PersonalLinkResults, error) {
	return post[PersonalLinkResults](ctx, c, "/personal-links:create-batch", batch, options)
}

// PersonalLinkResult is the outcome for one recipient: its Link if that was created, otherwise the Errors of the recipient.
type PersonalLinkResult struct {
	// Index in the recipients of the batch, from 0.
	Index int32 `json:"index"`
	// ExternalRecipientID is the value that you sent.
	ExternalRecipientID *string                   `json:"externalRecipientId"`
	Outcome             PersonalLinkResultOutcome `json:"outcome"`
	Link                *PersonalLink             `json:"link,omitempty"`
	Errors              []RecipientError          `json:"errors,omitempty"`
}

// PersonalLinkResultOutcome is what became of a recipient.
type PersonalLinkResultOutcome string

// A recipient has a link, or was rejected.
const (
	PersonalLinkResultOutcomeCREATED  PersonalLinkResultOutcome = "CREATED"
	PersonalLinkResultOutcomeREJECTED PersonalLinkResultOutcome = "REJECTED"
)

// ListPersonalLinksQuery filters links.
type ListPersonalLinksQuery struct {
	Paging

	ExternalRecipientID, CampaignID string
	Status                          PersonalLinkStatus
	// UpdatedSince asks for links that changed at or after it, the oldest change first.
	UpdatedSince time.Time
}

func (q ListPersonalLinksQuery) values() url.Values {
	return q.filters("externalRecipientId", q.ExternalRecipientID, "campaignId", q.CampaignID,
		"status", string(q.Status), "updatedSince", instant(q.UpdatedSince))
}

// ListPersonalLinks reads a page of links, newest first.
func (c *Client) ListPersonalLinks(
	ctx context.Context, query ListPersonalLinksQuery, options ...CallOption,
) (*Page[PersonalLink], error) {
	return get[Page[PersonalLink]](ctx, c, "/personal-links", query.values(), options)
}

// PersonalLinks reads all links from a page on.
func (c *Client) PersonalLinks(ctx context.Context, query ListPersonalLinksQuery, options ...CallOption) iter.Seq2[PersonalLink, error] {
	return all[PersonalLink](ctx, c, "/personal-links", query.values(), options)
}

// GetPersonalLink reads a link.
func (c *Client) GetPersonalLink(ctx context.Context, linkID string, options ...CallOption) (*PersonalLink, error) {
	return get[PersonalLink](ctx, c, at("/personal-links/{}", linkID), nil, options)
}

// CancelPersonalLink withdraws a link that is REQUESTED or ACTIVE. Only the tenant's team sees the reason.
func (c *Client) CancelPersonalLink(ctx context.Context, linkID, reason string, options ...CallOption) (*PersonalLink, error) {
	return post[PersonalLink](ctx, c, at("/personal-links/{}:cancel", linkID), CancelPersonalLinkRequest{Reason: reason}, options)
}
