/**
 * A function that verifies a webhook request, without a library: form, age, HMAC, timestamp and event id. A header is
 * `t=<seconds>,v1=<hex>`. For 24 hours after a rotation, a second one has a signature with the previous secret. In the body quotation marks within a text have a backslash, so `"event_id":"…"` is the field.
 */
interface Language {
  readonly name: string
  readonly code: string
}

export const languages: ReadonlyArray<Language> = [
  {
    name: "Node.js",
    code: `import { createHmac, timingSafeEqual } from "node:crypto"

// rawBody: the bytes as they came. headers: request.headers of node:http or Express.
export function verify(rawBody, headers) {
  const names = ["x-service-signature", "x-service-signature-previous"]
  const signed = names.some((name) => isSigned(rawBody, headers["x-service-timestamp"], headers[name]))
  const id = headers["x-service-event-id"]
  return signed && id !== undefined && JSON.parse(rawBody).event_id === id
}

function isSigned(rawBody, timestamp, signature = "") {
  const secret = process.env.INLET_WEBHOOK_SECRET ?? ""
  if (!secret.startsWith("whsec_")) throw new Error("Set INLET_WEBHOOK_SECRET to the signing secret")
  const [, t, v1] = /^t=(\\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? []
  if (t === undefined || t !== timestamp || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false
  const expected = createHmac("sha256", secret).update(t + ".").update(rawBody).digest()
  return timingSafeEqual(expected, Buffer.from(v1, "hex"))
}`
  },
  {
    name: "Python",
    code: `import hashlib, hmac, json, os, re, time

# raw_body: request.get_data() in Flask, request.body in Django. headers: request.headers.
def verify(raw_body: bytes, headers) -> bool:
    names = ("x-service-signature", "x-service-signature-previous")
    timestamp = headers.get("x-service-timestamp")
    if not any(is_signed(raw_body, timestamp, headers.get(name, "")) for name in names):
        return False
    event_id = headers.get("x-service-event-id")
    return event_id is not None and json.loads(raw_body)["event_id"] == event_id

def is_signed(raw_body: bytes, timestamp, signature: str) -> bool:
    secret = os.environ.get("INLET_WEBHOOK_SECRET", "")
    if not secret.startswith("whsec_"):
        raise RuntimeError("Set INLET_WEBHOOK_SECRET to the signing secret")
    match = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", signature)
    if match is None or match[1] != timestamp or abs(time.time() - int(match[1])) > 300:
        return False
    expected = hmac.new(secret.encode(), match[1].encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, match[2])`
  },
  {
    name: "Ruby",
    code: `require "json"
require "openssl"

# In Rails: verify(request.raw_post, request.headers)
def verify(raw_body, headers)
  names = ["x-service-signature", "x-service-signature-previous"]
  timestamp = headers["x-service-timestamp"]
  return false unless names.any? { |name| signed?(raw_body, timestamp, headers[name].to_s) }
  id = headers["x-service-event-id"]
  !id.nil? && JSON.parse(raw_body)["event_id"] == id
end

def signed?(raw_body, timestamp, signature)
  secret = ENV.fetch("INLET_WEBHOOK_SECRET", "")
  raise "Set INLET_WEBHOOK_SECRET to the signing secret" unless secret.start_with?("whsec_")
  match = /\\At=(\\d{1,12}),v1=([0-9a-f]{64})\\z/.match(signature)
  return false if match.nil? || match[1] != timestamp || (Time.now.to_i - match[1].to_i).abs > 300
  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{match[1]}.#{raw_body}")
  OpenSSL.fixed_length_secure_compare(expected, match[2])
end`
  },
  {
    name: "Go",
    code: `package inlet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var form = regexp.MustCompile("^t=(\\\\d{1,12}),v1=([0-9a-f]{64})$")

// rawBody is what io.ReadAll(request.Body) returns, and headers is request.Header.
func Verify(rawBody []byte, headers http.Header) bool {
	timestamp := headers.Get("X-Service-Timestamp")
	if !isSigned(rawBody, timestamp, headers.Get("X-Service-Signature")) &&
		!isSigned(rawBody, timestamp, headers.Get("X-Service-Signature-Previous")) {
		return false
	}
	var event struct {
		ID string \`json:"event_id"\`
	}
	return json.Unmarshal(rawBody, &event) == nil && event.ID != "" && event.ID == headers.Get("X-Service-Event-Id")
}

func isSigned(rawBody []byte, timestamp, signature string) bool {
	secret := os.Getenv("INLET_WEBHOOK_SECRET")
	if !strings.HasPrefix(secret, "whsec_") {
		panic("Set INLET_WEBHOOK_SECRET to the signing secret")
	}
	match := form.FindStringSubmatch(signature)
	if match == nil || match[1] != timestamp {
		return false
	}
	seconds, err := strconv.ParseInt(match[1], 10, 64)
	age := time.Since(time.Unix(seconds, 0))
	if err != nil || age > 300*time.Second || age < -300*time.Second {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(match[1] + "."))
	mac.Write(rawBody)
	given, err := hex.DecodeString(match[2])
	return err == nil && hmac.Equal(mac.Sum(nil), given)
}`
  },
  {
    name: "PHP",
    code: `<?php
// verify(file_get_contents('php://input'), getallheaders())
function verify(string $rawBody, array $headers): bool {
    $headers = array_change_key_case($headers);
    $timestamp = $headers['x-service-timestamp'] ?? '';
    $signed = is_signed($rawBody, $timestamp, $headers['x-service-signature'] ?? '')
        || is_signed($rawBody, $timestamp, $headers['x-service-signature-previous'] ?? '');
    $event = json_decode($rawBody);
    return $signed && isset($event->event_id) && $event->event_id === ($headers['x-service-event-id'] ?? null);
}

function is_signed(string $rawBody, string $timestamp, string $signature): bool {
    $secret = getenv('INLET_WEBHOOK_SECRET') ?: '';
    if (!str_starts_with($secret, 'whsec_')) {
        throw new RuntimeException('Set INLET_WEBHOOK_SECRET to the signing secret');
    }
    if (!preg_match('/^t=(\\d{1,12}),v1=([0-9a-f]{64})$/D', $signature, $match)) return false;
    if ($match[1] !== $timestamp || abs(time() - (int) $match[1]) > 300) return false;
    $expected = hash_hmac('sha256', $match[1] . '.' . $rawBody, $secret);
    return hash_equals($expected, $match[2]);
}`
  },
  {
    name: "Java",
    code: `import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Inlet {
  private static final Pattern FORM = Pattern.compile("t=(\\\\d{1,12}),v1=([0-9a-f]{64})");

  /** The headers X-Service-Event-Id, -Timestamp, -Signature and -Signature-Previous. */
  static boolean verify(byte[] rawBody, String eventId, String timestamp, String signature, String previous)
      throws Exception {
    if (!isSigned(rawBody, timestamp, signature) && !isSigned(rawBody, timestamp, previous)) return false;
    return new String(rawBody, StandardCharsets.UTF_8).contains("\\"event_id\\":\\"" + eventId + "\\"");
  }

  private static boolean isSigned(byte[] rawBody, String timestamp, String signature) throws Exception {
    var secret = String.valueOf(System.getenv("INLET_WEBHOOK_SECRET"));
    if (!secret.startsWith("whsec_")) throw new IllegalStateException("Set INLET_WEBHOOK_SECRET to the signing secret");
    var match = FORM.matcher(signature == null ? "" : signature);
    if (!match.matches() || !match.group(1).equals(timestamp)) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(match.group(1))) > 300) return false;
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((match.group(1) + ".").getBytes(StandardCharsets.UTF_8));
    return MessageDigest.isEqual(mac.doFinal(rawBody), HexFormat.of().parseHex(match.group(2)));
  }
}`
  }
]
