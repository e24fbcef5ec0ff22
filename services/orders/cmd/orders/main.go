// Command orders runs the orders service.
package main

import (
	"os"

	"github.com/partnergifting/platform/services/orders"
)

func main() { os.Exit(orders.Program().Main(os.Args, os.Stderr)) }
