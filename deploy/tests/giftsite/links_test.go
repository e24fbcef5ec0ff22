//go:build browser

package giftsite_test

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// fakeServices fakes the services behind the pages, so that a test can show every page.
type fakeServices struct {
	linksv1.UnimplementedGiftSiteServiceServer
	catalogv1.UnimplementedImagesServiceServer

	mu sync.Mutex
	// page is the page of the only link; nil: there is none.
	page *linksv1.GetClaimPageResponse
	// drafts are what forms have entered, by their nonces. claimedBy is the nonce of the form that claimed the link.
	drafts    map[string]*linksv1.ClaimDraft
	claimedBy string
	// order is what the page shows of the placed order to the player who claimed it.
	order *linksv1.GetClaimedGiftResponse
	// claims is how many claims were made.
	claims int
	// unavailable means that every call fails.
	unavailable bool
	// logoDelay is how long a brand's logo takes to arrive. It is set before the page is opened.
	logoDelay time.Duration
}

// locked calls do with the lock held: to change what the services return, or to read what they have recorded.
func (l *fakeServices) locked(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// reset replaces the link by one with this page, and forgets all drafts and claims.
func (l *fakeServices) reset(page *linksv1.GetClaimPageResponse) {
	l.locked(func() {
		l.page, l.claimedBy, l.drafts, l.claims = page, "", map[string]*linksv1.ClaimDraft{}, 0
		l.order = &linksv1.GetClaimedGiftResponse{Progress: linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING}
	})
}

func (l *fakeServices) GetClaimPage(_ context.Context, r *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unavailable {
		return nil, problem.Unavailable()
	}
	if r.GetToken() != token || l.page == nil {
		return nil, problem.RecordNotFound()
	}
	return proto.CloneOf(l.page), nil
}

func (l *fakeServices) GetClaimDraft(_ context.Context, r *linksv1.GetClaimDraftRequest) (*linksv1.GetClaimDraftResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &linksv1.GetClaimDraftResponse{State: l.page.GetState(), Draft: proto.CloneOf(l.drafts[r.GetFormNonce()])}, nil
}

func (l *fakeServices) SaveClaimDraft(
	_ context.Context, r *linksv1.SaveClaimDraftRequest,
) (*linksv1.SaveClaimDraftResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unavailable {
		return nil, problem.Unavailable()
	}
	if l.page.GetState() != linksv1.ClaimState_CLAIM_STATE_OPEN && r.GetFormNonce() != l.claimedBy {
		return &linksv1.SaveClaimDraftResponse{State: l.page.GetState()}, nil
	}
	draft := l.drafts[r.GetFormNonce()]
	if draft == nil {
		draft = &linksv1.ClaimDraft{}
		l.drafts[r.GetFormNonce()] = draft
	}
	if r.GetGift() != nil || r.GetRecipient() != nil {
		draft.Version++
	}
	if r.GetGift() != nil {
		draft.Gift = r.GetGift()
	}
	if r.GetRecipient() != nil {
		draft.Recipient = r.GetRecipient()
		if number, ok := phone.ParseIn(r.GetRecipient().GetPhone(), r.GetRecipient().GetCountry()); ok {
			draft.Recipient.Phone = phone.Spaced(number)
		}
	}
	if draft.Answer = r.GetAnswer(); r.GetCheckRecipient() {
		draft.Answer = check(r.GetRecipient())
	}
	return &linksv1.SaveClaimDraftResponse{State: l.page.GetState(), Draft: proto.CloneOf(draft)}, nil
}

// check reports some of the violations that the service reports.
func check(r *linksv1.ClaimRecipient) *linksv1.ClaimAnswer {
	answer := &linksv1.ClaimAnswer{Code: string(problem.InvalidRequest)}
	add := func(field, code string) {
		answer.Violations = append(answer.Violations, &commonv1.Violation{Field: "recipient." + field, Code: code})
	}
	for field, value := range map[string]string{
		"name": r.GetName(), "phone": r.GetPhone(), "address.street": r.GetStreet(),
		"address.postalCode": r.GetPostalCode(), "address.city": r.GetCity(), "address.country": r.GetCountry(),
	} {
		if value == "" {
			add(field, problem.FieldRequired)
		}
	}
	if r.GetPhone() != "" && !strings.HasPrefix(r.GetPhone(), "+") {
		add("phone", problem.FieldInvalid)
	}
	if len(answer.GetViolations()) == 0 {
		return nil
	}
	return answer
}

func (l *fakeServices) ClaimLink(_ context.Context, r *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.page.GetState() != linksv1.ClaimState_CLAIM_STATE_OPEN {
		return &linksv1.ClaimLinkResponse{State: l.page.GetState()}, nil
	}
	l.claims++
	l.page.State, l.claimedBy = linksv1.ClaimState_CLAIM_STATE_CLAIMED, r.GetFormNonce()
	l.order.Gift = &linksv1.ClaimedGift{
		Reference: "NP-4F7K2M", ProductName: giftOf(l.page, r.GetProductId()).GetName(), Variations: r.GetVariations(),
		ClaimedAt: timestamppb.New(time.Now()),
		MaskedRecipient: &linksv1.ClaimRecipient{
			Name: initials(r.GetRecipient().GetName()), Phone: "•••67", Street: "St•••", City: "Stockholm",
			PostalCode: proto.String("11•••"), Country: "SE",
		},
		CorrectableVersion: proto.Int64(0), Shown: giftOf(l.page, r.GetProductId()), AcceptsThanks: true,
	}
	l.page.Gifts = nil
	l.drafts = map[string]*linksv1.ClaimDraft{r.GetFormNonce(): {Recipient: r.GetRecipient()}}
	return &linksv1.ClaimLinkResponse{State: l.page.GetState(), OrderReference: proto.String("NP-4F7K2M")}, nil
}

// initials are what a masked address shows of a name.
func initials(name string) string {
	var shown []string
	for _, word := range strings.Fields(name) {
		shown = append(shown, string([]rune(word)[:1])+"•••")
	}
	return strings.Join(shown, " ")
}

func giftOf(page *linksv1.GetClaimPageResponse, id string) *linksv1.ClaimGift {
	for _, g := range page.GetGifts() {
		if g.GetProductId() == id {
			return g
		}
	}
	return nil
}

func (l *fakeServices) GetClaimedGift(
	_ context.Context, r *linksv1.GetClaimedGiftRequest,
) (*linksv1.GetClaimedGiftResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	resp := proto.CloneOf(l.order)
	if l.claimedBy == "" || r.GetFormNonce() != l.claimedBy {
		resp.Gift = nil
	}
	return resp, nil
}

func (l *fakeServices) CorrectClaimedGift(
	_ context.Context, r *linksv1.CorrectClaimedGiftRequest,
) (*linksv1.CorrectClaimedGiftResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.GetFormNonce() != l.claimedBy {
		return nil, problem.RecordNotFound()
	}
	l.order.Gift.MaskedRecipient.Street, l.order.Gift.CorrectableVersion = "Ny•••", proto.Int64(1)
	corrected := proto.CloneOf(l.drafts[r.GetFormNonce()].GetRecipient())
	proto.Merge(corrected, r.GetRecipient())
	l.drafts[r.GetFormNonce()] = &linksv1.ClaimDraft{Recipient: corrected, OrderVersion: 1}
	return &linksv1.CorrectClaimedGiftResponse{}, nil
}

func (l *fakeServices) ThankForClaimedGift(
	_ context.Context, r *linksv1.ThankForClaimedGiftRequest,
) (*linksv1.ThankForClaimedGiftResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if utf8.RuneCountInString(r.GetText()) > 280 {
		return nil, problem.Invalid(problem.Violation{Field: "text", Code: problem.FieldTooLong})
	}
	l.order.Gift.Thanks, l.order.Gift.AcceptsThanks = r.GetText(), false
	return &linksv1.ThankForClaimedGiftResponse{}, nil
}

func (l *fakeServices) GetImage(_ context.Context, r *catalogv1.GetImageRequest) (*catalogv1.GetImageResponse, error) {
	content, err := seed.Image(r.GetFileId())
	if err != nil {
		return nil, err
	}
	contentType := "image/webp"
	if strings.HasPrefix(r.GetFileId(), "logo-") {
		contentType = "image/png"
		<-time.After(l.logoDelay)
	}
	return &catalogv1.GetImageResponse{ContentType: contentType, Content: content, Digest: r.GetFileId()}, nil
}
