package postgres

// Fault shows the table of faults to tests that provoke them by hand.
var Fault = fault
