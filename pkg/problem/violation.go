package problem

// The field codes of the API.
const (
	FieldRequired                       = "required"
	FieldInvalid                        = "invalid"
	FieldTooLong                        = "too_long"
	FieldDuplicate                      = "duplicate"
	FieldNotEnabled                     = "not_enabled"
	FieldManagerNotFound                = "manager_not_found"
	FieldNotAllowedWithCatalogSelection = "not_allowed_with_catalog_selection"
)

// Violation is one error in one field of a request.
type Violation struct {
	// Field is the path as the caller wrote it, such as items[0].budget.currency; empty for the whole body.
	Field string
	// Code is a field code of the API.
	Code string
	// Message is an English sentence without the offending value, which may be personal data.
	Message string
}
