package samples

import (
	"context"
	"errors"
	"fmt"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// HandleErrors shows what an error says.
func HandleErrors(ctx context.Context, client *gifting.Client) error {
	// sample: handleErrors
	_, err := client.Orders.List(ctx, gifting.ListOrdersQuery{Paging: gifting.Paging{Limit: 101}}).First()
	if problem, ok := gifting.ProblemOf(err); ok {
		field, _ := problem.FieldError("limit")
		fmt.Println(problem.Code, problem.RequestID, field.Message)
	} else if call, ok := errors.AsType[*gifting.CallError](err); ok {
		fmt.Println("a POST may have taken effect: repeat it with", call.IdempotencyKey)
	}
	// end
	return err
}
