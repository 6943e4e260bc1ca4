# A Rails app with Action Mailbox and nothing else. It writes each mail it receives as one JSON line.
#   RECORDS=records.jsonl puma -e production -t 1:1 -b tcp://127.0.0.1:PORT action_mailbox.ru
require "digest"
require "json"
require "tmpdir"
require "rails"
require "active_record/railtie"
require "active_storage/engine"
require "action_controller/railtie"
require "active_job/railtie"
require "action_mailbox/engine"

FOLDER = Dir.mktmpdir("inlet-rails-")
at_exit { FileUtils.rm_rf(FOLDER) }
RECORDS = ENV.fetch("RECORDS")
ENV["DATABASE_URL"] = "sqlite3:#{FOLDER}/db.sqlite3"

class ReceiverApp < Rails::Application
  config.root = FOLDER
  config.load_defaults 6.1
  config.eager_load = false
  config.consider_all_requests_local = false
  config.hosts.clear
  config.secret_key_base = SecureRandom.hex
  config.log_level = :error
  config.logger = ActiveSupport::Logger.new($stderr)
  config.active_job.queue_adapter = :inline
  config.active_storage.service = :local
  config.active_storage.service_configurations = { "local" => { "service" => "Disk", "root" => "#{FOLDER}/storage" } }
  config.action_mailbox.incinerate = false
end

# An app has one ingress. This one has the ingress in the path of its request, because it has one thread.
class IngressOfPath
  def initialize(app) = @app = app

  def call(env)
    ActionMailbox.ingress = env["PATH_INFO"][%r{\A/rails/action_mailbox/(\w+)/}, 1]&.to_sym
    @app.call(env)
  end
end

ReceiverApp.config.middleware.insert 0, IngressOfPath
ReceiverApp.initialize!

ActiveRecord::Schema.verbose = false
ActiveRecord::Migration.verbose = false
ActiveRecord::MigrationContext.new(
  [ActiveStorage::Engine, ActionMailbox::Engine].map { |engine| "#{engine.root}/db/migrate" }, ActiveRecord::SchemaMigration
).migrate

# Reads a mail as the guide of Action Mailbox does.
class RecordingMailbox < ActionMailbox::Base
  def process
    record = {
      from: mail.from, to: mail.to, cc: mail.cc, subject: mail.subject, message_id: mail.message_id,
      text: body(mail.text_part, "text/plain"), html: body(mail.html_part, "text/html"),
      attachments: (mail.attachment? ? [mail] : mail.attachments).map { |part| attachment(part) },
      recipient: Array(mail["X-Original-To"]).first&.to_s, sender: mail.return_path,
      recipients: mail.recipients, spam_score: nil
    }
    File.open(RECORDS, "a") { |file| file.write("#{JSON.generate(record)}\n") }
  end

  private

  def body(part, type)
    return part.decoded if part
    mail.decoded if !mail.multipart? && (mail.mime_type || "text/plain") == type && !mail.attachment?
  end

  def attachment(part)
    { filename: part.filename, content_type: part.mime_type, content_id: part.content_id&.delete("<>"),
      sha256: Digest::SHA256.hexdigest(part.body.decoded) }
  end
end

class ApplicationMailbox < ActionMailbox::Base
  routing all: :recording
end

run ReceiverApp
