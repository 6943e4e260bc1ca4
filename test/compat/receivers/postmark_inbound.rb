# Reads a request of Postmark's inbound webhook from standard input with Postmark's own library, and prints what it found.
require "base64"
require "digest"
require "json"
require "postmark"

mail = Postmark::Inbound.to_ruby_hash($stdin.read)
puts JSON.generate(
  from: mail[:from_full][:email], from_name: mail[:from_full][:name],
  to: mail[:to_full].map { |one| one[:email] }, cc: mail[:cc_full].map { |one| one[:email] },
  subject: mail[:subject], text: mail[:text_body], html: mail[:html_body],
  message_id: mail[:headers].find { |header| header[:name] == "Message-ID" }&.fetch(:value),
  files: mail[:attachments].map { |file|
    [file[:name], file[:content_type], Digest::SHA256.hexdigest(Base64.strict_decode64(file[:content]))]
  },
  recipient: mail[:original_recipient], hash: mail[:mailbox_hash]
)
