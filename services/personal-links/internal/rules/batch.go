package rules

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/sandboxpace"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Batch is a batch to be stored: its links, and the results for the response.
type Batch struct {
	ID         string
	TenantID   string
	KeyID      int32
	KeyName    string
	ProductIDs []string
	CreatedAt  time.Time
	Links      []NewLink
	Results    []*linksv1.PersonalLinkResult
}

// NewLink is a link with the hash of its token.
type NewLink struct {
	*Link
	TokenHash []byte
	// Auto says how the sandbox approves and claims the link automatically; nil: it does not.
	Auto *sandboxpace.Directive
}

// Sender is the sender of a batch. Its links appear under the brand.
type Sender struct {
	TenantID string
	KeyID    int32
	KeyName  string
	BrandID  string
	// ClaimURL is the address to which a token is appended.
	ClaimURL string
	// Cell is where the links are made.
	Cell identity.Cell
	// Sandbox means that a recipient may ask for automatic approval and claim of its link.
	Sandbox bool
}

// NewBatch makes a link for each recipient without errors.
func NewBatch(
	from Sender, selection Selection, settings *tenantsv1.GetTenantSettingsResponse,
	recipients []*linksv1.PersonalLinkRecipient, now time.Time,
) *Batch {
	b := &Batch{
		ID: newID(), TenantID: from.TenantID, KeyID: from.KeyID, KeyName: from.KeyName,
		ProductIDs: selection.ProductIDs, CreatedAt: now.UTC().Truncate(time.Microsecond),
		Results: make([]*linksv1.PersonalLinkResult, 0, len(recipients)),
	}
	checker := NewRecipientChecker(settings)
	checker.sandbox = from.Sandbox
	status := Active
	if settings.GetTenant().GetApprovalRequired() {
		status = Requested
	}
	for i, in := range recipients {
		index := int32(i)
		result := &linksv1.PersonalLinkResult{Index: index, ExternalRecipientId: fields.Optional(in.ExternalRecipientId)}
		b.Results = append(b.Results, result)
		recipient, violations := checker.Check(in)
		if len(violations) > 0 {
			reject(result, violations)
			continue
		}
		link := b.newLink(from, selection, recipient, index, status)
		result.Outcome = linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_CREATED
		result.Result = &linksv1.PersonalLinkResult_Link{Link: link.Record}
		b.Links = append(b.Links, link)
	}
	return b
}

func reject(result *linksv1.PersonalLinkResult, violations []problem.Violation) {
	errs := &linksv1.RecipientErrors{}
	for _, v := range violations {
		errs.Errors = append(errs.Errors, &linksv1.RecipientError{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	result.Outcome = linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_REJECTED
	result.Result = &linksv1.PersonalLinkResult_Errors{Errors: errs}
}

func (b *Batch) newLink(
	from Sender, selection Selection, to Recipient, index int32, status linksv1.PersonalLinkStatus,
) NewLink {
	token := NewToken(from.Cell)
	hash, _ := HashToken(token)
	record := &linksv1.PersonalLink{
		Id: newID(), BrandId: from.BrandID, Status: status,
		ClaimUrl: ClaimURL(from.ClaimURL, token), CampaignId: selection.CampaignID,
		CreatedAt: timestamppb.New(b.CreatedAt), UpdatedAt: timestamppb.New(b.CreatedAt),
	}
	for _, text := range recordTexts {
		*text.target(record) = fields.Optional(new(text.read(to.Sent)))
	}
	if selection.CampaignID == nil {
		record.Selection = linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG.Enum()
	}
	return NewLink{TokenHash: hash, Auto: to.Auto, Link: &Link{
		Record: record, TenantID: b.TenantID, BatchID: b.ID, BatchIndex: index,
		Locale: to.Locale, ManagerID: to.ManagerID, Details: &to.Details, ProductIDs: b.ProductIDs,
	}}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

const (
	// tokenBytes of randomness cannot be guessed.
	tokenBytes = 18
	tokenLen   = len(identity.HomeCell) + tokenBytes*4/3
)

// NewToken makes the secret part of a claim URL. It begins with the letter of the cell in which it is made.
func NewToken(cell identity.Cell) string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // It never fails.
	return cell.String() + base64.RawURLEncoding.EncodeToString(raw)
}

// HashToken returns the hash by which a token is looked up. A keyed or slow hash would add nothing, because there are too many
// tokens to try. ok is false for a text that is not a token of any cell.
func HashToken(token string) (hash []byte, ok bool) {
	if len(token) != tokenLen || token[0] < 'a' || token[0] > 'z' {
		return nil, false
	}
	if _, err := base64.RawURLEncoding.DecodeString(token[1:]); err != nil {
		return nil, false
	}
	sum := sha256.Sum256([]byte(token))
	return sum[:], true
}

// ClaimURL is the address for the player.
func ClaimURL(base, token string) string { return strings.TrimSuffix(base, "/") + "/" + token }
