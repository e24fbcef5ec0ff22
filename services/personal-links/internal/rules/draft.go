package rules

import (
	"cmp"
	"crypto/sha256"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// maxDraft is the size of a draft in bytes.
	maxDraft = 32 << 10
	// maxTyped is how many characters of a text are kept, so that a player can shorten it.
	maxTyped = 1000
	// maxAnswered bounds the violations of an answer.
	maxAnswered = 50
)

// HashNonce returns the hash by which the draft of a form is found. A nonce has too many values to try them.
func HashNonce(nonce string) []byte {
	sum := sha256.Sum256([]byte(nonce))
	return sum[:]
}

// CheckNonce finds the errors of a form's nonce.
func CheckNonce(nonce string, errs *fields.Errors) {
	if n := len(nonce); n < minFormNonce || n > maxFormNonce {
		errs.Add("formNonce", problem.FieldInvalid, "must have 22 to 64 characters")
	}
}

// ClaimedBy reports whether the form with the nonce has claimed the link.
func (l *Link) ClaimedBy(nonce string) bool {
	return l.Record.GetStatus() == Claimed && MadeClaim(FormRequest(nonce), l.Record.GetId(), l.Record.GetOrderId())
}

// HasDraft reports whether the link keeps what the form enters: before the claim, and then a correction by the form that made it.
func (l *Link) HasDraft(nonce string) bool {
	return l.Record.GetStatus() == Active || l.ClaimedBy(nonce)
}

// CheckDraft finds the errors of a request that keep it from being stored. Those of the recipient do not.
func CheckDraft(req *linksv1.SaveClaimDraftRequest, errs *fields.Errors) {
	CheckNonce(req.GetFormNonce(), errs)
	if gift := req.GetGift(); gift != nil {
		gift.ProductId = errs.RequiredUUID("productId", gift.GetProductId())
	}
	if len(req.GetAnswer().GetViolations()) > maxAnswered {
		errs.Add("answer.violations", problem.FieldInvalid, "holds too many violations")
	}
}

// NextDraft returns the draft after a request without errors. draft is nil for a form that has none yet.
func NextDraft(draft *linksv1.ClaimDraft, req *linksv1.SaveClaimDraftRequest) (*linksv1.ClaimDraft, error) {
	next := proto.CloneOf(draft)
	if next == nil {
		next = &linksv1.ClaimDraft{}
	}
	if req.GetGift() != nil || req.GetRecipient() != nil {
		next.Ordered = orderedIn(next)
		next.Version++
	}
	errs := &fields.Errors{}
	if req.GetGift() != nil {
		next.Gift = req.GetGift()
		next.Gift.Initials = cut(req.GetGift().GetInitials())
	}
	checkInitials(next.GetGift().GetInitials(), errs)
	if req.GetRecipient() != nil {
		next.Recipient = typed(req.GetRecipient())
	}
	if req.GetCheckRecipient() {
		checkRecipient(next.GetRecipient(), "recipient.", errs)
	}
	next.Answer = answerWith(req.GetAnswer(), errs)
	if proto.Size(next) > maxDraft {
		return nil, problem.New(problem.PayloadTooLarge, "The draft is too large.")
	}
	return next, nil
}

// orderedIn is where the order is sent, as the form that has claimed the link has typed it; nil: there is no order, or the draft
// does not have it.
func orderedIn(draft *linksv1.ClaimDraft) *linksv1.ClaimRecipient {
	if draft.GetVersion() == 0 {
		return draft.GetRecipient()
	}
	return draft.GetOrdered()
}

// CorrectedDraft is the draft of the form that has claimed the link after its correction of the order, which now has the version.
// A draft that has this version already stays: the correction was sent twice. Nil: the draft does not say where the order was sent
// before.
func CorrectedDraft(draft *linksv1.ClaimDraft, req *linksv1.CorrectClaimedGiftRequest, version int64) *linksv1.ClaimDraft {
	before := orderedIn(draft)
	made := draft.GetOrderVersion() == req.GetExpectedVersion() && version == req.GetExpectedVersion()+1
	if before == nil || !made && draft.GetOrderVersion() != version {
		return nil
	}
	after := proto.CloneOf(before)
	req.GetRecipient().ProtoReflect().Range(func(field protoreflect.FieldDescriptor, text protoreflect.Value) bool {
		if !fields.Blank(text.String()) {
			after.ProtoReflect().Set(field, text)
		}
		return true
	})
	return &linksv1.ClaimDraft{Recipient: typed(after), OrderVersion: version}
}

// typed cuts texts that are longer than anybody types, and writes the phone number internationally if it is one of the country.
func typed(r *linksv1.ClaimRecipient) *linksv1.ClaimRecipient {
	out := proto.CloneOf(r)
	texts := []*string{
		&out.Name, &out.Phone, &out.Street, &out.City, &out.Country,
		out.Email, out.Street2, out.PostalCode, out.Region, out.CourierComment, //nolint:protogetter // Changed in place.
	}
	for _, text := range texts {
		if text != nil {
			*text = cut(*text)
		}
	}
	if number, ok := phone.ParseIn(out.GetPhone(), out.GetCountry()); ok {
		out.Phone = phone.Spaced(number)
	}
	return out
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxTyped {
		return string(runes[:maxTyped])
	}
	return text
}

// answerWith adds to the caller's answer what a claim would say about the texts. It is nil if there is no error.
func answerWith(found *linksv1.ClaimAnswer, errs *fields.Errors) *linksv1.ClaimAnswer {
	if errs.Err() == nil {
		return found
	}
	answer := &linksv1.ClaimAnswer{
		Code: cmp.Or(found.GetCode(), string(problem.InvalidRequest)), Violations: found.GetViolations(),
	}
	for _, v := range errs.List() {
		answer.Violations = append(answer.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code})
	}
	return answer
}

const (
	// claimTag is where the hash in the id of a claim begins. What precedes it makes the id unique.
	claimTag = 8
	// A UUID has its variant in the first two bits of the hash.
	variantMask, variant = 0x3f, 0x80
)

// NewClaimID makes the id of the order for a claim of the link by a request. The id shows which request made it, so that after a
// crash a repetition of the request knows its own claim. The link stores only the id.
func NewClaimID(request []byte, linkID string) string {
	return tagged(uuid.Must(uuid.NewV7()), request, linkID).String()
}

// FormRequest identifies the requests of one form of the gift site to NewClaimID and MadeClaim. No request of a key is the same.
func FormRequest(nonce string) []byte { return []byte("gift site form\x00" + nonce) }

// MadeClaim reports whether the request made the order id for a claim of the link.
func MadeClaim(request []byte, linkID, orderID string) bool {
	id, err := uuid.Parse(orderID)
	return err == nil && id == tagged(id, request, linkID)
}

func tagged(id uuid.UUID, request []byte, linkID string) uuid.UUID {
	h := sha256.New()
	h.Write(id[:claimTag])
	h.Write([]byte(linkID))
	h.Write(request)
	copy(id[claimTag:], h.Sum(nil))
	id[claimTag] = id[claimTag]&variantMask | variant
	return id
}
