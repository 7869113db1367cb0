// The least a Go server can do with an event: read the body, parse it, answer.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var event any
		if json.Unmarshal(body, &event) != nil {
			w.WriteHeader(400)
			return
		}
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(202)
		io.WriteString(w, `{"accepted":1}`)
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
