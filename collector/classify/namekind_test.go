package classify

import "testing"

func TestNameKind(t *testing.T) {
	const none = KindNone
	for name, want := range map[string]Kind{
		"":                                                none,
		"user:42":                                         none,
		"job:1764500000":                                  kindTimestamp,
		"job:1764500000123":                               kindTimestamp,
		"job:1764500000123456":                            kindTimestamp,
		"job:1764500000123456789":                         kindTimestamp,
		"job_1764500000":                                  kindTimestamp,
		"job:x1764500000":                                 none, // part of a longer run
		"job:0764500000":                                  none, // before 2001
		"job:4102444800":                                  none, // 2100
		"job:17645000001":                                 none, // 11 digits
		"call:deadbeefdeadbee":                            none, // 15
		"call:deadbeefdeadbee1":                           kindHex,
		"call:DEADBEEFDEADBEE1":                           kindHex,
		"call:deadbeefdeadbeef":                           none, // no digit
		"call:1234567890123457":                           kindTimestamp,
		"call:9234567890123457":                           none, // no letter and no time
		"call:deadbeefdeadbee1z":                          none,
		"call:deadbeefdeadbee1:17645":                     kindHex,
		"e:01ARZ3NDEKTSV4RRFFQ69G5FAV":                    kindULID,
		"e:01arz3ndektsv4rrffq69g5fav":                    kindULID,
		"e:81ARZ3NDEKTSV4RRFFQ69G5FAV":                    none, // above the largest
		"e:01ARZ3NDEKTSV4RRFFQ69G5FAU":                    none, // U is not in the alphabet
		"e:01ARZ3NDEKTSV4RRFFQ69G5FA":                     none,
		"r:9b2d5b2c-8f6f-4a0d-9a7d-0f1c2e3b4a59":          kindUUID,
		"{9B2D5B2C-8F6F-4A0D-9A7D-0F1C2E3B4A59}":          kindUUID,
		"r:9b2d5b2c-8f6f-4a0d-9a7d-0f1c2e3b4a5":           none,
		"r:9b2d5b2c-8f6f-4a0d-9a7d:0f1c2e3b4a59":          none,
		"r:9b2d5b2c_8f6f_4a0d_9a7d_0f1c2e3b4a59":          none,
		"12345678-9b2d5b2c-8f6f-4a0d-9a7d-0f1c2e3b4a59":   kindUUID,
		"x9b2d5b2c-8f6f-4a0d-9a7d-0f1c2e3b4a59":           none,
		"1764500000:9b2d5b2c-8f6f-4a0d-9a7d-0f1c2e3b4a59": kindUUID,
		"1764500000:01ARZ3NDEKTSV4RRFFQ69G5FAV":           kindULID,
		"1764500000:deadbeefdeadbee1":                     kindHex,
		"deadbeefdeadbee1:01ARZ3NDEKTSV4RRFFQ69G5FAV":     kindULID,
		"\xff\x00deadbeefdeadbee1\n":                      kindHex,
		"é1764500000é":                                    kindTimestamp,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%q is of kind %d, want %d", name, got, want)
		}
	}
}
