package gifting

import (
	"context"
	"net/url"
	"time"
)

// PersonalLinks are those that the key can see.
type PersonalLinks struct{ client *Client }

// Create creates a link for each recipient. Recipients are checked one by one: see Outcome of each result.
func (p PersonalLinks) Create(
	ctx context.Context, batch CreatePersonalLinksRequest, options ...CallOption,
) (*PersonalLinkResults, error) {
	return post[PersonalLinkResults](ctx, p.client, routeTo("/personal-links:create-batch"), batch, options)
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
	// UpdatedSince asks for links that changed at or after it.
	UpdatedSince time.Time
}

func (q ListPersonalLinksQuery) values() url.Values {
	return q.filters("externalRecipientId", q.ExternalRecipientID, "campaignId", q.CampaignID,
		"status", string(q.Status), "updatedSince", instant(q.UpdatedSince))
}

// List is all links, newest first, or with UpdatedSince the oldest change first.
func (p PersonalLinks) List(ctx context.Context, query ListPersonalLinksQuery, options ...CallOption) List[PersonalLink] {
	return list[PersonalLink](ctx, p.client, "/personal-links", query.values(), options)
}

// Get reads a link.
func (p PersonalLinks) Get(ctx context.Context, linkID string, options ...CallOption) (*PersonalLink, error) {
	return get[PersonalLink](ctx, p.client, routeTo("/personal-links/{linkId}", linkID), nil, options)
}

// Cancel withdraws a link that is REQUESTED or ACTIVE. Only the tenant's team sees the reason.
func (p PersonalLinks) Cancel(
	ctx context.Context, linkID string, cancellation CancelPersonalLinkRequest, options ...CallOption,
) (*PersonalLink, error) {
	return post[PersonalLink](ctx, p.client, routeTo("/personal-links/{linkId}:cancel", linkID), cancellation, options)
}
