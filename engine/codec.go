package engine

import "encoding/json"

// Codec turns values into payloads and back. Payloads outlive programs: what a
// codec wrote must stay readable by its successors.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(payload []byte, v any) error // v is a pointer
}

// JSON is the default Codec, by package encoding/json.
type JSON struct{}

// Encode implements Codec.
func (JSON) Encode(v any) ([]byte, error) { return json.Marshal(v) }

// Decode implements Codec.
func (JSON) Decode(payload []byte, v any) error { return json.Unmarshal(payload, v) }

// encode returns v itself if it is raw bytes, and nothing for nil.
func encode(c Codec, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	}
	return c.Encode(v)
}

// decode reads what encode wrote. Without a payload v keeps its value.
func decode(c Codec, payload []byte, v any) error {
	switch v := v.(type) {
	case *[]byte:
		*v = payload
		return nil
	case *json.RawMessage:
		*v = payload
		return nil
	}
	if len(payload) == 0 {
		return nil
	}
	return c.Decode(payload, v)
}
