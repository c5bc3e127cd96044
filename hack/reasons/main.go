// Program reasons writes docs/reasons.md to its standard output: what each reason of a condition or event means, and what to
// do about it, from the comments of the constants in the files that are its arguments.
//
// A block of constants is a section: its comment begins with a heading. The comment of a Reason has two paragraphs, "ReasonX
// means that …" and what to do; that of a Condition has one.
package main

import (
	"log"
	"os"
)

func main() {
	sections, err := read(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.WriteString(page(sections)); err != nil {
		log.Fatal(err)
	}
}
