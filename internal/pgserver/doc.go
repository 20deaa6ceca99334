// Package pgserver runs throw-away PostgreSQL servers on 127.0.0.1, never as
// root, and does them harm: it stops them in order or as in a crash, freezes
// them and starts them again. A server ends with the process that started it,
// however that ends, and leaves nothing behind.
package pgserver
