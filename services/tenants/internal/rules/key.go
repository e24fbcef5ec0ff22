package rules

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Grants are the name of a key and what it may do.
type Grants struct {
	Name   string
	Scopes []commonv1.Scope
	// AllBrands false limits the key to BrandIDs, which may be empty.
	AllBrands bool
	BrandIDs  []string
}

// keyRequest is a request that creates or updates a key.
type keyRequest interface {
	GetName() string
	GetScopes() []commonv1.Scope
	GetAllBrands() bool
	GetBrandIds() []string
}

// Key validates what a request says of a key. A key may have no scopes and no brands: it can still call the methods that every
// valid key may call.
func Key(req keyRequest, errs *fields.Errors) Grants {
	errs.Required("name", req.GetName(), maxKeyName)
	k := Grants{
		Name:      req.GetName(),
		Scopes:    scopes(req.GetScopes(), errs),
		AllBrands: req.GetAllBrands(),
	}
	if k.AllBrands && len(req.GetBrandIds()) > 0 {
		errs.Add("brandIds", problem.FieldInvalid, "must be empty if allBrands is true")
		return k
	}
	if len(req.GetBrandIds()) > maxBrandIDs {
		errs.Add("brandIds", problem.FieldTooLong, "has too many entries")
		return k
	}
	for i, id := range req.GetBrandIds() {
		k.BrandIDs = append(k.BrandIDs, errs.UUID(fmt.Sprintf("brandIds[%d]", i), id))
	}
	slices.Sort(k.BrandIDs)
	k.BrandIDs = slices.Compact(k.BrandIDs)
	return k
}

// scopes returns the set in the order of the API.
func scopes(requested []commonv1.Scope, errs *fields.Errors) []commonv1.Scope {
	for i, s := range requested {
		if !declared(s) {
			errs.Add(fmt.Sprintf("scopes[%d]", i), problem.FieldInvalid, "must be a scope of the API")
		}
	}
	out := slices.Clone(requested)
	slices.Sort(out)
	return slices.Compact(out)
}

// WebhookURL validates a webhook URL, if there is one. Its host is not resolved here: the address is
// checked at every connection.
func WebhookURL(path string, url *string, allowLoopback bool, errs *fields.Errors) {
	if url == nil {
		return
	}
	errs.Required(path, *url, maxURL)
	if refusal := netguard.CheckURL(*url, netguard.Options{AllowLoopback: allowLoopback}); refusal != "" {
		errs.Add(path, problem.FieldInvalid, refusal)
	}
}

const secretBytes = 32

// NewWebhookSecret makes a signing secret of 64 lower-case hex characters. These characters, not the bytes
// they encode, are the HMAC key.
func NewWebhookSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // It never fails.
	return hex.EncodeToString(raw)
}

// SecretData is the associated data with which the signing secret of a key is sealed, so that it cannot be
// opened for another key.
func SecretData[ID int32 | string](keyID ID) string {
	return fmt.Sprintf("api_key/%v/webhook_secret", keyID)
}
