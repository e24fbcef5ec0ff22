package rules

import "time"

// Erase erases what the link says about a person, and its token, so that nobody can open it any more. erasedURL replaces the claim
// URL. A link that nobody has claimed is cancelled, because it could no longer be passed to anyone. changed is false if nothing
// is left to erase. A link with a claim in flight returns ErrClaimLocked.
func (l *Link) Erase(erasedURL string, now time.Time) (event string, changed bool, err error) {
	if l.ClaimOrderID != nil {
		return "", false, ErrClaimLocked
	}
	r := l.Record
	changed = l.Details != nil || l.Reason != nil
	if r.GetStatus() == Requested || r.GetStatus() == Active {
		if _, err := l.Cancel("", now); err != nil {
			return "", false, err
		}
		event, changed = EventCancelled, true
	} else if r.ExternalRecipientId != nil || r.GetClaimUrl() != erasedURL {
		// The API has no event for this change. It is seen by updatedSince.
		l.change(now)
		changed = true
	}
	r.ExternalRecipientId, r.ClaimUrl, l.Details, l.Reason = nil, erasedURL, nil, nil
	return event, changed, nil
}
