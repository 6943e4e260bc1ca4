/**
 * A function that verifies a webhook request, without a library: form, age, HMAC and event id. The header is
 * `t=<seconds>,v1=<hex>`. In the body quotation marks within a text have a backslash, so `"event_id":"…"` is the field.
 */
interface Language {
  readonly name: string
  readonly code: string
}

export const languages: ReadonlyArray<Language> = [
  {
    name: "Node.js",
    code: `import { createHmac, timingSafeEqual } from "node:crypto"

export function verify(rawBody, headers) {
  const [, t, v1] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(headers["x-service-signature"] ?? "") ?? []
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false
  const expected = createHmac("sha256", process.env.INLET_WEBHOOK_SECRET).update(t + ".").update(rawBody).digest()
  if (!timingSafeEqual(expected, Buffer.from(v1, "hex"))) return false
  return JSON.parse(rawBody).event_id === headers["x-service-event-id"]
}`
  },
  {
    name: "Python",
    code: `import hashlib, hmac, json, os, re, time

def verify(raw_body: bytes, headers) -> bool:
    match = re.fullmatch(r"t=(\\d+),v1=([0-9a-f]{64})", headers.get("x-service-signature", ""))
    if match is None or abs(time.time() - int(match[1])) > 300:
        return False
    secret = os.environ["INLET_WEBHOOK_SECRET"].encode()
    expected = hmac.new(secret, match[1].encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, match[2]):
        return False
    return json.loads(raw_body)["event_id"] == headers.get("x-service-event-id")`
  },
  {
    name: "Ruby",
    code: `require "json"
require "openssl"

def verify(raw_body, headers)
  match = /\\At=(\\d+),v1=([0-9a-f]{64})\\z/.match(headers["x-service-signature"].to_s)
  return false if match.nil? || (Time.now.to_i - match[1].to_i).abs > 300
  expected = OpenSSL::HMAC.hexdigest("SHA256", ENV.fetch("INLET_WEBHOOK_SECRET"), "#{match[1]}.#{raw_body}")
  return false unless OpenSSL.fixed_length_secure_compare(expected, match[2])
  JSON.parse(raw_body)["event_id"] == headers["x-service-event-id"]
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
	"time"
)

var form = regexp.MustCompile("^t=(\\\\d+),v1=([0-9a-f]{64})$")

func Verify(rawBody []byte, headers http.Header) bool {
	match := form.FindStringSubmatch(headers.Get("X-Service-Signature"))
	if match == nil {
		return false
	}
	seconds, err := strconv.ParseInt(match[1], 10, 64)
	age := time.Since(time.Unix(seconds, 0))
	if err != nil || age > 300*time.Second || age < -300*time.Second {
		return false
	}
	mac := hmac.New(sha256.New, []byte(os.Getenv("INLET_WEBHOOK_SECRET")))
	mac.Write([]byte(match[1] + "."))
	mac.Write(rawBody)
	given, err := hex.DecodeString(match[2])
	if err != nil || !hmac.Equal(mac.Sum(nil), given) {
		return false
	}
	var event struct {
		ID string \`json:"event_id"\`
	}
	return json.Unmarshal(rawBody, &event) == nil && event.ID == headers.Get("X-Service-Event-Id")
}`
  },
  {
    name: "PHP",
    code: `<?php
function verify(string $rawBody, array $headers): bool {
    if (!preg_match('/^t=(\\d+),v1=([0-9a-f]{64})$/D', $headers['x-service-signature'] ?? '', $match)) return false;
    if (abs(time() - (int) $match[1]) > 300) return false;
    $expected = hash_hmac('sha256', $match[1] . '.' . $rawBody, getenv('INLET_WEBHOOK_SECRET'));
    if (!hash_equals($expected, $match[2])) return false;
    return json_decode($rawBody)->event_id === ($headers['x-service-event-id'] ?? null);
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

  static boolean verify(byte[] rawBody, String signature, String eventId) throws Exception {
    var match = FORM.matcher(signature == null ? "" : signature);
    if (!match.matches()) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(match.group(1))) > 300) return false;
    var mac = Mac.getInstance("HmacSHA256");
    var secret = System.getenv("INLET_WEBHOOK_SECRET").getBytes(StandardCharsets.UTF_8);
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    mac.update((match.group(1) + ".").getBytes(StandardCharsets.UTF_8));
    if (!MessageDigest.isEqual(mac.doFinal(rawBody), HexFormat.of().parseHex(match.group(2)))) return false;
    return new String(rawBody, StandardCharsets.UTF_8).contains("\\"event_id\\":\\"" + eventId + "\\"");
  }
}`
  }
]
