import http.server
import threading


class Site:
    def __enter__(self):
        class H(http.server.BaseHTTPRequestHandler):
            def log_message(self, *a):
                pass

            def do_GET(self):
                b = b'<title>Hi</title><a href="/x">Next</a><button onclick="alert(1)">Al</button><input aria-label=Name>'
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(b)))
                self.end_headers()
                self.wfile.write(b)

        self.s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
        threading.Thread(target=self.s.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.s.server_port}"
        return self

    def __exit__(self, *a):
        self.s.shutdown()
