package problem

import (
	"net/http"

	"google.golang.org/grpc/codes"
)

// Code is a stable snake_case name that callers can branch on.
type Code string

// The codes of the API, in the order of the specification's table. If several 422 or several 409 apply, the first of this order
// is returned.
const (
	InvalidRequest          Code = "invalid_request"
	IdempotencyKeyRequired  Code = "idempotency_key_required"
	IdempotencyKeyInvalid   Code = "idempotency_key_invalid"
	InvalidAPIKey           Code = "invalid_api_key"
	InsufficientScope       Code = "insufficient_scope"
	NotFound                Code = "not_found"
	MethodNotAllowed        Code = "method_not_allowed"
	NotAcceptable           Code = "not_acceptable"
	IdempotencyInProgress   Code = "idempotency_request_in_progress"
	OutOfStock              Code = "out_of_stock"
	ExternalOrderIDConflict Code = "external_order_id_conflict"
	NotEditable             Code = "not_editable"
	NotCancellable          Code = "not_cancellable"
	VersionConflict         Code = "version_conflict"
	PayloadTooLarge         Code = "payload_too_large"
	UnsupportedMediaType    Code = "unsupported_media_type"
	IdempotencyKeyReused    Code = "idempotency_key_reused"
	BrandRequired           Code = "brand_required"
	BrandNotFound           Code = "brand_not_found"
	BrandCampaignMismatch   Code = "brand_campaign_mismatch"
	CampaignNotFound        Code = "campaign_not_found"
	CampaignNotActive       Code = "campaign_not_active"
	ProductNotInCampaign    Code = "product_not_in_campaign"
	ProductNotAvailable     Code = "product_not_available"
	ProductNotFound         Code = "product_not_found"
	NotDeliverableToCountry Code = "not_deliverable_to_country"
	InvalidVariations       Code = "invalid_variations"
	InvalidCustomFields     Code = "invalid_custom_fields"
	ManagerNotFound         Code = "manager_not_found"
	CountryChangeNotAllowed Code = "country_change_not_allowed"
	NoProducts              Code = "no_products"
	NoRecipients            Code = "no_recipients"
	TooManyRecipients       Code = "too_many_recipients"
	RateLimited             Code = "rate_limited"
	InternalError           Code = "internal_error"
	ServiceUnavailable      Code = "service_unavailable"
	RangeNotSatisfiable     Code = "range_not_satisfiable"
	TooManyMessages         Code = "too_many_messages"
	PreconditionFailed      Code = "precondition_failed"
	ReplayTooLarge          Code = "replay_too_large"
)

// Info is what the registry holds of a code.
type Info struct {
	Code   Code
	Status int
	GRPC   codes.Code
	Title  string
}

// registry is in the order of the specification's table, then the additions of this platform.
var registry = []Info{
	{InvalidRequest, http.StatusBadRequest, codes.InvalidArgument, "Invalid request"},
	{IdempotencyKeyRequired, http.StatusBadRequest, codes.InvalidArgument, "Idempotency-Key required"},
	{IdempotencyKeyInvalid, http.StatusBadRequest, codes.InvalidArgument, "Idempotency-Key invalid"},
	{InvalidAPIKey, http.StatusUnauthorized, codes.Unauthenticated, "Invalid API key"},
	{InsufficientScope, http.StatusForbidden, codes.PermissionDenied, "Insufficient scope"},
	{NotFound, http.StatusNotFound, codes.NotFound, "Not found"},
	{MethodNotAllowed, http.StatusMethodNotAllowed, codes.Unimplemented, "Method not allowed"},
	{NotAcceptable, http.StatusNotAcceptable, codes.InvalidArgument, "Not acceptable"},
	{IdempotencyInProgress, http.StatusConflict, codes.Aborted, "Request in progress"},
	{OutOfStock, http.StatusConflict, codes.FailedPrecondition, "Out of stock"},
	{ExternalOrderIDConflict, http.StatusConflict, codes.AlreadyExists, "External order id conflict"},
	{NotEditable, http.StatusConflict, codes.FailedPrecondition, "Not editable"},
	{NotCancellable, http.StatusConflict, codes.FailedPrecondition, "Not cancellable"},
	{VersionConflict, http.StatusConflict, codes.Aborted, "Version conflict"},
	{PayloadTooLarge, http.StatusRequestEntityTooLarge, codes.InvalidArgument, "Payload too large"},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, codes.InvalidArgument, "Unsupported media type"},
	{IdempotencyKeyReused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Idempotency-Key reused"},
	{BrandRequired, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Brand required"},
	{BrandNotFound, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Brand not found"},
	{BrandCampaignMismatch, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Brand and campaign do not match"},
	{CampaignNotFound, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Campaign not found"},
	{CampaignNotActive, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Campaign not active"},
	{ProductNotInCampaign, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Product not in campaign"},
	{ProductNotAvailable, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Product not available"},
	{ProductNotFound, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Product not found"},
	{NotDeliverableToCountry, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Not deliverable to country"},
	{InvalidVariations, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Invalid variations"},
	{InvalidCustomFields, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Invalid custom fields"},
	{ManagerNotFound, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Manager not found"},
	{CountryChangeNotAllowed, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Country change not allowed"},
	{NoProducts, http.StatusUnprocessableEntity, codes.FailedPrecondition, "No products"},
	{NoRecipients, http.StatusUnprocessableEntity, codes.FailedPrecondition, "No recipients"},
	{TooManyRecipients, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Too many recipients"},
	{RateLimited, http.StatusTooManyRequests, codes.ResourceExhausted, "Rate limit exceeded"},
	{InternalError, http.StatusInternalServerError, codes.Internal, "Internal error"},
	{ServiceUnavailable, http.StatusServiceUnavailable, codes.Unavailable, "Service unavailable"},
	{RangeNotSatisfiable, http.StatusRequestedRangeNotSatisfiable, codes.OutOfRange, "Range not satisfiable"},
	{TooManyMessages, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Too many messages"},
	{PreconditionFailed, http.StatusPreconditionFailed, codes.Aborted, "Precondition failed"},
	{ReplayTooLarge, http.StatusUnprocessableEntity, codes.FailedPrecondition, "Replay too large"},
}

var byCode = func() map[Code]Info {
	m := make(map[Code]Info, len(registry))
	for _, info := range registry {
		m[info.Code] = info
	}
	return m
}()

// Lookup returns the registry's entry of a code; an unknown code counts as internal_error.
func Lookup(c Code) Info {
	if info, ok := byCode[c]; ok {
		return info
	}
	return byCode[InternalError]
}

// Registry lists every code in the order of the specification's table.
func Registry() []Info {
	return append([]Info(nil), registry...)
}
