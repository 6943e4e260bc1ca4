/** A function that verifies a webhook request, without a library. The header is `t=<seconds>,v1=<hex>`. */
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
  return timingSafeEqual(expected, Buffer.from(v1, "hex"))
}`
  },
  {
    name: "Python",
    code: `import hashlib, hmac, os, re, time

def verify(raw_body: bytes, headers) -> bool:
    match = re.fullmatch(r"t=(\\d+),v1=([0-9a-f]{64})", headers.get("x-service-signature", ""))
    if match is None or abs(time.time() - int(match[1])) > 300:
        return False
    secret = os.environ["INLET_WEBHOOK_SECRET"].encode()
    expected = hmac.new(secret, match[1].encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, match[2])`
  },
  {
    name: "Ruby",
    code: `require "openssl"

def verify(raw_body, headers)
  match = /\\At=(\\d+),v1=([0-9a-f]{64})\\z/.match(headers["x-service-signature"].to_s)
  return false if match.nil? || (Time.now.to_i - match[1].to_i).abs > 300
  expected = OpenSSL::HMAC.hexdigest("SHA256", ENV.fetch("INLET_WEBHOOK_SECRET"), "#{match[1]}.#{raw_body}")
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
	return err == nil && hmac.Equal(mac.Sum(nil), given)
}`
  },
  {
    name: "PHP",
    code: `<?php
function verify(string $rawBody, array $headers): bool {
    if (!preg_match('/^t=(\\d+),v1=([0-9a-f]{64})$/D', $headers['x-service-signature'] ?? '', $match)) return false;
    if (abs(time() - (int) $match[1]) > 300) return false;
    $expected = hash_hmac('sha256', $match[1] . '.' . $rawBody, getenv('INLET_WEBHOOK_SECRET'));
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

  static boolean verify(byte[] rawBody, String signature) throws Exception {
    var match = FORM.matcher(signature == null ? "" : signature);
    if (!match.matches()) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(match.group(1))) > 300) return false;
    var mac = Mac.getInstance("HmacSHA256");
    var secret = System.getenv("INLET_WEBHOOK_SECRET").getBytes(StandardCharsets.UTF_8);
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    mac.update((match.group(1) + ".").getBytes(StandardCharsets.UTF_8));
    return MessageDigest.isEqual(mac.doFinal(rawBody), HexFormat.of().parseHex(match.group(2)));
  }
}`
  }
]
